-- Snapshots of volumes; what a volume was copied from; changes of a volume that are under way.

CREATE TABLE snapshots (
    id            TEXT    NOT NULL PRIMARY KEY,
    -- a volume cannot go while it has snapshots
    volume_id     TEXT    NOT NULL REFERENCES volumes (id),
    project_id    TEXT    NOT NULL,
    user_id       TEXT    NOT NULL,
    name          TEXT,
    description   TEXT,
    -- of the volume when it was taken
    size_gib      BIGINT  NOT NULL,
    status        TEXT    NOT NULL,
    -- a percentage, as it is shown
    progress      TEXT    NOT NULL,
    -- false: it is certain that the back end holds nothing of it
    backed        BOOLEAN NOT NULL,
    provider_id   TEXT,
    provider_data TEXT,
    -- GiB it counts as in its project's gigabytes
    quota_gib     BIGINT  NOT NULL,
    created_at    BIGINT  NOT NULL,
    updated_at    BIGINT
);
CREATE INDEX snapshots_by_volume ON snapshots (volume_id, created_at, id);
CREATE INDEX snapshots_by_project_and_age ON snapshots (project_id, created_at, id);
CREATE INDEX snapshots_by_age ON snapshots (created_at, id);

CREATE TABLE snapshot_metadata (
    snapshot_id TEXT NOT NULL REFERENCES snapshots (id) ON DELETE CASCADE,
    key         TEXT NOT NULL,
    value       TEXT NOT NULL,
    PRIMARY KEY (snapshot_id, key)
);

-- what it was copied from; that may be gone by now
ALTER TABLE volumes ADD COLUMN snapshot_id TEXT;
ALTER TABLE volumes ADD COLUMN source_volid TEXT;
-- what it goes back to when an extend or a retype has ended
ALTER TABLE volumes ADD COLUMN previous_status TEXT;
-- the size and the type it shall get, which its project's quota counts already
ALTER TABLE volumes ADD COLUMN extend_to BIGINT;
ALTER TABLE volumes ADD COLUMN retype_to TEXT REFERENCES volume_types (id);
-- attachments may only read; null: nobody ever said
ALTER TABLE volumes ADD COLUMN readonly BOOLEAN;
CREATE INDEX volumes_by_snapshot ON volumes (snapshot_id);
CREATE INDEX volumes_by_source ON volumes (source_volid);
