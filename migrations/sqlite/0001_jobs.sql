-- Worker processes, durable jobs, the outbox, tombstones, user messages, quota.
-- Times are microseconds since the Unix epoch by the database's clock.

CREATE TABLE workers (
    id TEXT NOT NULL PRIMARY KEY,
    -- machine and process id, for people
    label TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    heartbeat_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
);

CREATE TABLE jobs (
    -- order of insertion; within one order_key also the order of running
    -- never given out twice: driver calls carry it (AUTOINCREMENT; PostgreSQL's identity does the same)
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    resource_kind TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    order_key TEXT NOT NULL,
    -- host@backend, or '' while no back end is chosen
    backend TEXT NOT NULL,
    payload TEXT NOT NULL,
    -- ready (run_at may lie ahead), running, done
    state TEXT NOT NULL,
    worker TEXT,
    generation BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    -- failed runs in a row; the back-off follows them
    failures BIGINT NOT NULL,
    run_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    -- another process waits for the end and wants to be woken
    awaited BOOLEAN NOT NULL,
    -- why it waits or was taken over, for people
    reason TEXT NOT NULL,
    -- ok or refused, with the answer or the fault
    outcome TEXT,
    result TEXT,
    request_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    user_id TEXT NOT NULL
);

CREATE UNIQUE INDEX jobs_id ON jobs (id);
-- the rule itself: one running job an order key
CREATE UNIQUE INDEX jobs_running ON jobs (order_key) WHERE state = 'running';
CREATE INDEX jobs_ready ON jobs (backend, run_at, seq) WHERE state = 'ready';
CREATE INDEX jobs_order ON jobs (order_key, seq) WHERE state <> 'done';
CREATE INDEX jobs_resource ON jobs (resource_id, kind) WHERE state <> 'done';
CREATE INDEX jobs_worker ON jobs (worker) WHERE state = 'running';
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE state = 'done';

-- Loops that one process runs for all: outbox delivery, purging.
CREATE TABLE duties (
    name TEXT NOT NULL PRIMARY KEY,
    worker TEXT NOT NULL,
    lease_until BIGINT NOT NULL
);

CREATE TABLE outbox (
    seq INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    resource_kind TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    next_at BIGINT NOT NULL
);

CREATE INDEX outbox_resource ON outbox (resource_id, seq);

CREATE TABLE tombstones (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    -- JSON: the sort keys a deleted page marker needs
    sort_keys TEXT NOT NULL,
    host TEXT NOT NULL,
    provider_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    deleted_at BIGINT NOT NULL,
    PRIMARY KEY (kind, id)
);

CREATE INDEX tombstones_deleted ON tombstones (deleted_at);

CREATE TABLE messages (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    action_id TEXT NOT NULL,
    detail_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    level TEXT NOT NULL,
    -- what this message says beyond its two ids; may be empty
    extra TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX messages_list ON messages (project_id, created_at, id);
CREATE INDEX messages_expiry ON messages (expires_at);

-- user_id and type_id are '' where a figure is the whole project's or of all types.
CREATE TABLE quota_usage (
    project_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    type_id TEXT NOT NULL,
    resource TEXT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (project_id, user_id, type_id, resource)
);

CREATE TABLE quota_limits (
    project_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    type_id TEXT NOT NULL,
    resource TEXT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (project_id, user_id, type_id, resource)
);

CREATE TABLE quota_class_limits (
    class TEXT NOT NULL,
    resource TEXT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (class, resource)
);

-- Facts about this installation, one row each: the cluster's host name, ...
CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
