-- Locks that keep a share or an access rule from an action, until whoever placed them takes them away.

CREATE TABLE resource_locks (
    id              TEXT   NOT NULL PRIMARY KEY,
    project_id      TEXT   NOT NULL,
    user_id         TEXT   NOT NULL,
    -- as what it was placed: user, admin, service
    lock_context    TEXT   NOT NULL,
    -- share, access_rule
    resource_type   TEXT   NOT NULL,
    resource_id     TEXT   NOT NULL,
    -- delete, show
    resource_action TEXT   NOT NULL,
    lock_reason     TEXT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT
);
CREATE INDEX resource_locks_by_resource ON resource_locks (resource_id, resource_action);
CREATE INDEX resource_locks_by_project_and_age ON resource_locks (project_id, created_at, id);
CREATE INDEX resource_locks_by_age ON resource_locks (created_at, id);
