-- Volumes offered to whoever has the key.

CREATE TABLE transfers (
    id           TEXT    NOT NULL PRIMARY KEY,
    -- one offer a volume; it goes with it
    volume_id    TEXT    NOT NULL UNIQUE REFERENCES volumes (id) ON DELETE CASCADE,
    -- whose volume it is
    project_id   TEXT    NOT NULL,
    name         TEXT,
    salt         TEXT    NOT NULL,
    key_hash     TEXT    NOT NULL,
    no_snapshots BOOLEAN NOT NULL,
    created_at   BIGINT  NOT NULL
);
CREATE INDEX transfers_by_project_and_age ON transfers (project_id, created_at, id);
CREATE INDEX transfers_by_age ON transfers (created_at, id);
