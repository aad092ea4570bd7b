-- Block storage: volume types, volumes, attachments.

CREATE TABLE volume_types (
    id          TEXT    NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL UNIQUE,
    description TEXT,
    is_public   BOOLEAN NOT NULL,
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT
);
CREATE INDEX volume_types_by_age ON volume_types (created_at, id);

CREATE TABLE volume_type_specs (
    type_id TEXT NOT NULL REFERENCES volume_types (id) ON DELETE CASCADE,
    key     TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (type_id, key)
);

CREATE TABLE volume_type_access (
    type_id    TEXT NOT NULL REFERENCES volume_types (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    PRIMARY KEY (type_id, project_id)
);
CREATE INDEX volume_type_access_by_project ON volume_type_access (project_id);

CREATE TABLE volumes (
    id                TEXT    NOT NULL PRIMARY KEY,
    project_id        TEXT    NOT NULL,
    user_id           TEXT    NOT NULL,
    name              TEXT,
    description       TEXT,
    size_gib          BIGINT  NOT NULL,
    status            TEXT    NOT NULL,
    attach_status     TEXT    NOT NULL,
    migration_status  TEXT,
    volume_type_id    TEXT    NOT NULL REFERENCES volume_types (id),
    availability_zone TEXT    NOT NULL,
    -- host@backend#pool; null until a pool is chosen
    host              TEXT,
    -- host@backend of it
    backend           TEXT,
    -- the back end's own name of the object
    provider_id       TEXT,
    -- what else the driver wants back with every call (JSON)
    provider_data     TEXT,
    bootable          BOOLEAN NOT NULL,
    multiattach       BOOLEAN NOT NULL,
    -- null: the targets are NVMe-oF
    shared_targets    BOOLEAN,
    service_uuid      TEXT,
    backend_name      TEXT,
    consumes_quota    BOOLEAN NOT NULL,
    created_at        BIGINT  NOT NULL,
    updated_at        BIGINT
);
CREATE INDEX volumes_by_project_and_age ON volumes (project_id, created_at, id);
CREATE INDEX volumes_by_age ON volumes (created_at, id);
CREATE INDEX volumes_by_project_and_name ON volumes (project_id, name);
CREATE INDEX volumes_by_backend ON volumes (backend);
CREATE INDEX volumes_by_type ON volumes (volume_type_id);

CREATE TABLE volume_metadata (
    volume_id TEXT NOT NULL REFERENCES volumes (id) ON DELETE CASCADE,
    key       TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (volume_id, key)
);

CREATE TABLE attachments (
    id              TEXT   NOT NULL PRIMARY KEY,
    volume_id       TEXT   NOT NULL REFERENCES volumes (id),
    project_id      TEXT   NOT NULL,
    instance_id     TEXT,
    status          TEXT   NOT NULL,
    mode            TEXT   NOT NULL,
    connector       TEXT,
    connector_host  TEXT,
    connection_info TEXT,
    mountpoint      TEXT,
    -- what a job is doing to it: connect or disconnect, and the job that answers for it
    work            TEXT,
    job_id          TEXT,
    -- the connector that the running (or cut short) connect was asked with
    work_connector  TEXT,
    attached_at     BIGINT,
    detached_at     BIGINT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT
);
CREATE INDEX attachments_by_volume ON attachments (volume_id);
CREATE INDEX attachments_by_project_and_age ON attachments (project_id, created_at, id);
CREATE INDEX attachments_by_age ON attachments (created_at, id);
CREATE INDEX attachments_by_instance ON attachments (instance_id);
