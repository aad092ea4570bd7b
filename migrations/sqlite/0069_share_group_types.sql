-- Share group types: what groups of shares are made of. The same shape as share types, and the share types each is for.

CREATE TABLE share_group_types (
    id          TEXT    NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL UNIQUE,
    description TEXT,
    is_public   BOOLEAN NOT NULL,
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT
);
CREATE INDEX share_group_types_by_age ON share_group_types (created_at, id);

CREATE TABLE share_group_type_specs (
    type_id TEXT NOT NULL REFERENCES share_group_types (id) ON DELETE CASCADE,
    key     TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (type_id, key)
);

CREATE TABLE share_group_type_access (
    type_id    TEXT NOT NULL REFERENCES share_group_types (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    PRIMARY KEY (type_id, project_id)
);
CREATE INDEX share_group_type_access_by_project ON share_group_type_access (project_id);

CREATE TABLE share_group_type_share_types (
    type_id       TEXT NOT NULL REFERENCES share_group_types (id) ON DELETE CASCADE,
    share_type_id TEXT NOT NULL REFERENCES share_types (id),
    PRIMARY KEY (type_id, share_type_id)
);
CREATE INDEX share_group_type_share_types_by_share_type ON share_group_type_share_types (share_type_id);
