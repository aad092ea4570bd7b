-- Back ends, their pools, and who holds how much of them.

CREATE TABLE backends (
    host              TEXT    NOT NULL PRIMARY KEY, -- host@backend
    kind              TEXT    NOT NULL,             -- block | share
    driver            TEXT    NOT NULL,
    backend_name      TEXT    NOT NULL,             -- the configured backend_id, else a UUID made once
    backend_id_given  BOOLEAN NOT NULL,             -- backend_name comes from the configuration
    service_uuid      TEXT    NOT NULL,
    availability_zone TEXT    NOT NULL,
    capacity_group    TEXT,                         -- back ends over one physical pool name the same group
    configured        BOOLEAN NOT NULL,             -- false: gone from the configuration, but resources remain
    enabled           BOOLEAN NOT NULL,
    disabled_reason   TEXT,
    frozen            BOOLEAN NOT NULL,
    up                BOOLEAN NOT NULL,
    state_reason      TEXT,
    state_changed_at  BIGINT  NOT NULL,
    capabilities      TEXT    NOT NULL,             -- JSON object, back-end level
    multiattach       BOOLEAN,                      -- null: has never reported
    shared_targets    TEXT,                         -- true | false | none (NVMe-oF); null: has never reported
    report_began_at   BIGINT,                       -- when the driver's report call began, by the database's clock
    reported_at       BIGINT,
    report_due_at     BIGINT  NOT NULL,
    created_at        BIGINT  NOT NULL,
    updated_at        BIGINT  NOT NULL
);

-- One row a group that the configuration names: updating it serialises whoever changes the group's claims.
CREATE TABLE capacity_groups (
    name  TEXT   NOT NULL PRIMARY KEY,
    turns BIGINT NOT NULL
);

CREATE TABLE pools (
    name                        TEXT    NOT NULL PRIMARY KEY, -- host@backend#pool
    host                        TEXT    NOT NULL REFERENCES backends (host) ON DELETE CASCADE,
    capacity_key                TEXT    NOT NULL,             -- the back end's capacity group, else the pool's own name
    present                     BOOLEAN NOT NULL,             -- false: the newest report left it out
    available                   BOOLEAN NOT NULL,             -- the driver takes new objects here
    total                       TEXT    NOT NULL,             -- GiB, infinite, unknown
    free                        TEXT    NOT NULL,
    provisioned_gib             DOUBLE PRECISION NOT NULL,    -- as of the report, without the claims it did not cover
    provisioned_given           BOOLEAN NOT NULL,             -- false: filled from our own figures
    reserved_percentage         BIGINT  NOT NULL,
    reserved_snapshot_percentage BIGINT NOT NULL,
    reserved_extend_percentage  BIGINT  NOT NULL,
    max_over_subscription       TEXT,                         -- a ratio, auto; null: the service's option
    thin                        BOOLEAN NOT NULL,
    thick                       BOOLEAN NOT NULL,
    capabilities                TEXT    NOT NULL,             -- JSON object: back-end level keys under the pool's own
    claimed_gib                 BIGINT  NOT NULL,             -- sum of the claims that the report does not cover
    allocated_gib               BIGINT  NOT NULL,             -- sum of pool_allocations
    resources                   BIGINT  NOT NULL,             -- count of pool_allocations
    report_began_at             BIGINT  NOT NULL,
    reported_at                 BIGINT  NOT NULL
);
CREATE INDEX pools_host ON pools (host);
CREATE INDEX pools_capacity_key ON pools (capacity_key);

-- Room taken since the report: removed by the first report that began after the driver call had ended.
CREATE TABLE capacity_claims (
    id           TEXT   NOT NULL PRIMARY KEY,
    resource_id  TEXT   NOT NULL,
    pool         TEXT   NOT NULL,
    capacity_key TEXT   NOT NULL,
    operation    TEXT   NOT NULL, -- create | extend | snapshot
    gib          BIGINT NOT NULL,
    freed        BOOLEAN NOT NULL, -- the resource is gone; the room comes back with a later report
    created_at   BIGINT NOT NULL,
    settled_at   BIGINT           -- when the driver call had ended; null while it may run
);
CREATE UNIQUE INDEX capacity_claims_open ON capacity_claims (resource_id) WHERE settled_at IS NULL;
CREATE INDEX capacity_claims_key ON capacity_claims (capacity_key, settled_at);

-- Where each resource lies and how much of its pool it was given, for as long as it exists.
CREATE TABLE pool_allocations (
    resource_id TEXT   NOT NULL PRIMARY KEY,
    pool        TEXT   NOT NULL,
    gib         BIGINT NOT NULL
);
CREATE INDEX pool_allocations_pool ON pool_allocations (pool);

-- Why a resource went where it went, or nowhere.
CREATE TABLE placements (
    id            TEXT   NOT NULL PRIMARY KEY,
    resource_id   TEXT   NOT NULL,
    resource_kind TEXT   NOT NULL,
    operation     TEXT   NOT NULL,
    project_id    TEXT   NOT NULL,
    request_id    TEXT   NOT NULL,
    size_gib      BIGINT NOT NULL,
    pool          TEXT,           -- null: refused
    limit_kind    TEXT,           -- what ran out, when refused
    detail        TEXT   NOT NULL, -- JSON: ranked pools with weights, rejected pools with reasons
    created_at    BIGINT NOT NULL
);
CREATE INDEX placements_resource ON placements (resource_id, created_at);
CREATE INDEX placements_age ON placements (created_at);
