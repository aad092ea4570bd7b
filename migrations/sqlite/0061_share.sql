-- Shared file systems: share types, shares and their instances, who may mount them, snapshots, share networks, share servers.
-- A share is what its owner sees; a share instance is what lies on a back end (a driver knows the instance's id). Every
-- share has one instance today; what lies on a back end never stands in a share's row.

CREATE TABLE share_types (
    id          TEXT    NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL UNIQUE,
    description TEXT,
    is_public   BOOLEAN NOT NULL,
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT
);
CREATE INDEX share_types_by_age ON share_types (created_at, id);

CREATE TABLE share_type_specs (
    type_id TEXT NOT NULL REFERENCES share_types (id) ON DELETE CASCADE,
    key     TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (type_id, key)
);

CREATE TABLE share_type_access (
    type_id    TEXT NOT NULL REFERENCES share_types (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    PRIMARY KEY (type_id, project_id)
);
CREATE INDEX share_type_access_by_project ON share_type_access (project_id);

CREATE TABLE security_services (
    id              TEXT   NOT NULL PRIMARY KEY,
    project_id      TEXT   NOT NULL,
    -- ldap, kerberos, active_directory
    type            TEXT   NOT NULL,
    name            TEXT,
    description     TEXT,
    dns_ip          TEXT,
    server          TEXT,
    domain          TEXT,
    user_name       TEXT,
    password        TEXT,
    ou              TEXT,
    default_ad_site TEXT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT
);
CREATE INDEX security_services_by_project_and_age ON security_services (project_id, created_at, id);
CREATE INDEX security_services_by_age ON security_services (created_at, id);

CREATE TABLE share_networks (
    id          TEXT   NOT NULL PRIMARY KEY,
    project_id  TEXT   NOT NULL,
    user_id     TEXT   NOT NULL,
    name        TEXT,
    description TEXT,
    -- active, error, network_change
    status      TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT
);
CREATE INDEX share_networks_by_project_and_age ON share_networks (project_id, created_at, id);
CREATE INDEX share_networks_by_age ON share_networks (created_at, id);

CREATE TABLE share_network_security_services (
    share_network_id    TEXT NOT NULL REFERENCES share_networks (id) ON DELETE CASCADE,
    security_service_id TEXT NOT NULL REFERENCES security_services (id),
    PRIMARY KEY (share_network_id, security_service_id)
);
CREATE INDEX share_network_security_services_by_service ON share_network_security_services (security_service_id);

CREATE TABLE share_network_subnets (
    id                TEXT   NOT NULL PRIMARY KEY,
    share_network_id  TEXT   NOT NULL REFERENCES share_networks (id) ON DELETE CASCADE,
    -- null: the default subnet, which serves every zone that has none of its own
    availability_zone TEXT,
    neutron_net_id    TEXT,
    neutron_subnet_id TEXT,
    -- as the network plug-in tells when the first server is built; null before
    network_type      TEXT,
    segmentation_id   BIGINT,
    cidr              TEXT,
    gateway           TEXT,
    mtu               BIGINT,
    ip_version        BIGINT,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT
);
CREATE INDEX share_network_subnets_by_network ON share_network_subnets (share_network_id, created_at, id);

CREATE TABLE share_network_subnet_metadata (
    subnet_id TEXT NOT NULL REFERENCES share_network_subnets (id) ON DELETE CASCADE,
    key       TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (subnet_id, key)
);

CREATE TABLE share_servers (
    id                                TEXT    NOT NULL PRIMARY KEY,
    share_network_id                  TEXT    NOT NULL REFERENCES share_networks (id),
    project_id                        TEXT    NOT NULL,
    -- host@backend
    backend                           TEXT    NOT NULL,
    status                            TEXT    NOT NULL,
    -- what the driver wants back with every call (JSON object of texts); null: set-up never answered
    details                           TEXT,
    identifier                        TEXT    NOT NULL,
    is_auto_deletable                 BOOLEAN NOT NULL,
    -- copied from the driver when the server is made; an operator may change them later
    network_allocation_update_support BOOLEAN NOT NULL,
    security_service_update_support   BOOLEAN NOT NULL,
    -- since when no share is on it; null: one is, or was never
    idle_since                        BIGINT,
    created_at                        BIGINT  NOT NULL,
    updated_at                        BIGINT
);
CREATE INDEX share_servers_by_network ON share_servers (share_network_id);
CREATE INDEX share_servers_by_backend ON share_servers (backend);
CREATE INDEX share_servers_by_age ON share_servers (created_at, id);
CREATE INDEX share_servers_idle ON share_servers (idle_since) WHERE idle_since IS NOT NULL;

CREATE TABLE share_server_subnets (
    share_server_id TEXT NOT NULL REFERENCES share_servers (id) ON DELETE CASCADE,
    subnet_id       TEXT NOT NULL REFERENCES share_network_subnets (id),
    PRIMARY KEY (share_server_id, subnet_id)
);
CREATE INDEX share_server_subnets_by_subnet ON share_server_subnets (subnet_id);

-- Addresses given to share servers: written before they are used, gone when they are given back.
CREATE TABLE network_allocations (
    id              TEXT   NOT NULL PRIMARY KEY,
    share_server_id TEXT   NOT NULL REFERENCES share_servers (id),
    -- null: in the operator's admin network
    subnet_id       TEXT   REFERENCES share_network_subnets (id),
    -- the subnet of the network plug-in the address is of: what must not give it twice
    network_key     TEXT   NOT NULL,
    ip_address      TEXT   NOT NULL,
    mac_address     TEXT,
    label           TEXT   NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE UNIQUE INDEX network_allocations_address ON network_allocations (network_key, ip_address);
CREATE INDEX network_allocations_by_server ON network_allocations (share_server_id);
CREATE INDEX network_allocations_by_subnet ON network_allocations (subnet_id);

CREATE TABLE shares (
    id                                    TEXT    NOT NULL PRIMARY KEY,
    project_id                            TEXT    NOT NULL,
    user_id                               TEXT    NOT NULL,
    name                                  TEXT,
    description                           TEXT,
    size_gib                              BIGINT  NOT NULL,
    share_proto                           TEXT    NOT NULL,
    share_type_id                         TEXT    NOT NULL REFERENCES share_types (id),
    share_network_id                      TEXT    REFERENCES share_networks (id),
    -- what it was made from; that may be gone by now
    snapshot_id                           TEXT,
    is_public                             BOOLEAN NOT NULL,
    -- the instance's, written together with it
    status                                TEXT    NOT NULL,
    -- what it goes back to when the work that set its status has ended
    previous_status                       TEXT,
    task_state                            TEXT,
    -- of the type when it was made
    snapshot_support                      BOOLEAN NOT NULL,
    create_share_from_snapshot_support    BOOLEAN NOT NULL,
    revert_to_snapshot_support            BOOLEAN NOT NULL,
    mount_snapshot_support                BOOLEAN NOT NULL,
    snapshot_inherit_share_access_support BOOLEAN NOT NULL,
    replication_type                      TEXT,
    mount_point_name                      TEXT,
    is_soft_deleted                       BOOLEAN NOT NULL,
    scheduled_to_be_deleted_at            BIGINT,
    -- the size it shall get, which its project's quota counts already when it grows
    resize_to                             BIGINT,
    created_at                            BIGINT  NOT NULL,
    updated_at                            BIGINT
);
CREATE INDEX shares_by_project_and_age ON shares (project_id, created_at, id);
CREATE INDEX shares_by_age ON shares (created_at, id);
CREATE INDEX shares_by_project_and_name ON shares (project_id, name);
CREATE INDEX shares_by_type ON shares (share_type_id);
CREATE INDEX shares_by_network ON shares (share_network_id);
CREATE INDEX shares_by_snapshot ON shares (snapshot_id);
CREATE INDEX shares_public ON shares (created_at, id) WHERE is_public;
CREATE INDEX shares_to_be_deleted ON shares (scheduled_to_be_deleted_at) WHERE is_soft_deleted;

CREATE TABLE share_metadata (
    share_id TEXT NOT NULL REFERENCES shares (id) ON DELETE CASCADE,
    key      TEXT NOT NULL,
    value    TEXT NOT NULL,
    PRIMARY KEY (share_id, key)
);

CREATE TABLE share_instances (
    id                     TEXT    NOT NULL PRIMARY KEY,
    share_id               TEXT    NOT NULL REFERENCES shares (id),
    status                 TEXT    NOT NULL,
    -- active, syncing, error
    access_rules_status    TEXT    NOT NULL,
    cast_rules_to_readonly BOOLEAN NOT NULL,
    availability_zone      TEXT,
    -- host@backend#pool; null until a pool is chosen
    host                   TEXT,
    -- host@backend of it
    backend                TEXT,
    share_server_id        TEXT    REFERENCES share_servers (id),
    -- a percentage, as it is shown; null: nothing to tell
    progress               TEXT,
    -- false: it is certain that the back end holds nothing of it
    backed                 BOOLEAN NOT NULL,
    provider_id            TEXT,
    provider_data          TEXT,
    created_at             BIGINT  NOT NULL,
    updated_at             BIGINT
);
CREATE INDEX share_instances_by_share ON share_instances (share_id);
CREATE INDEX share_instances_by_backend ON share_instances (backend, id);
CREATE INDEX share_instances_by_server ON share_instances (share_server_id);
CREATE INDEX share_instances_by_age ON share_instances (created_at, id);

CREATE TABLE share_export_locations (
    id                TEXT    NOT NULL PRIMARY KEY,
    share_instance_id TEXT    NOT NULL REFERENCES share_instances (id) ON DELETE CASCADE,
    path              TEXT    NOT NULL,
    admin_only        BOOLEAN NOT NULL,
    preferred         BOOLEAN NOT NULL,
    -- the driver's order
    position          BIGINT  NOT NULL,
    created_at        BIGINT  NOT NULL,
    updated_at        BIGINT
);
CREATE UNIQUE INDEX share_export_locations_path ON share_export_locations (share_instance_id, path);
CREATE INDEX share_export_locations_by_path ON share_export_locations (path);

CREATE TABLE share_export_location_metadata (
    location_id TEXT NOT NULL REFERENCES share_export_locations (id) ON DELETE CASCADE,
    key         TEXT NOT NULL,
    value       TEXT NOT NULL,
    PRIMARY KEY (location_id, key)
);

CREATE TABLE share_access_rules (
    id           TEXT   NOT NULL PRIMARY KEY,
    share_id     TEXT   NOT NULL REFERENCES shares (id),
    access_type  TEXT   NOT NULL,
    access_to    TEXT   NOT NULL,
    access_level TEXT   NOT NULL,
    -- given by the driver (cephx)
    access_key   TEXT,
    -- queued_to_apply, applying, active, queued_to_update, updating, queued_to_deny, denying, error
    state        TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT
);
CREATE UNIQUE INDEX share_access_rules_target ON share_access_rules (share_id, access_type, access_to);

CREATE TABLE share_access_metadata (
    access_id TEXT NOT NULL REFERENCES share_access_rules (id) ON DELETE CASCADE,
    key       TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (access_id, key)
);

CREATE TABLE share_snapshots (
    id             TEXT   NOT NULL PRIMARY KEY,
    -- a share cannot go while it has snapshots
    share_id       TEXT   NOT NULL REFERENCES shares (id),
    project_id     TEXT   NOT NULL,
    user_id        TEXT   NOT NULL,
    name           TEXT,
    description    TEXT,
    -- of the share when it was taken
    size_gib       BIGINT NOT NULL,
    share_proto    TEXT   NOT NULL,
    -- the instance's, written together with it
    status         TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT
);
CREATE INDEX share_snapshots_by_share ON share_snapshots (share_id, created_at, id);
CREATE INDEX share_snapshots_by_project_and_age ON share_snapshots (project_id, created_at, id);
CREATE INDEX share_snapshots_by_age ON share_snapshots (created_at, id);

CREATE TABLE share_snapshot_metadata (
    snapshot_id TEXT NOT NULL REFERENCES share_snapshots (id) ON DELETE CASCADE,
    key         TEXT NOT NULL,
    value       TEXT NOT NULL,
    PRIMARY KEY (snapshot_id, key)
);

CREATE TABLE share_snapshot_instances (
    id                TEXT    NOT NULL PRIMARY KEY,
    snapshot_id       TEXT    NOT NULL REFERENCES share_snapshots (id),
    share_instance_id TEXT    NOT NULL REFERENCES share_instances (id),
    status            TEXT    NOT NULL,
    progress          TEXT,
    backed            BOOLEAN NOT NULL,
    provider_id       TEXT,
    provider_data     TEXT,
    created_at        BIGINT  NOT NULL,
    updated_at        BIGINT
);
CREATE INDEX share_snapshot_instances_by_snapshot ON share_snapshot_instances (snapshot_id);
CREATE INDEX share_snapshot_instances_by_instance ON share_snapshot_instances (share_instance_id);
CREATE INDEX share_snapshot_instances_by_age ON share_snapshot_instances (created_at, id);

CREATE TABLE snapshot_export_locations (
    id                   TEXT    NOT NULL PRIMARY KEY,
    snapshot_instance_id TEXT    NOT NULL REFERENCES share_snapshot_instances (id) ON DELETE CASCADE,
    path                 TEXT    NOT NULL,
    admin_only           BOOLEAN NOT NULL,
    position             BIGINT  NOT NULL,
    created_at           BIGINT  NOT NULL,
    updated_at           BIGINT
);
CREATE UNIQUE INDEX snapshot_export_locations_path ON snapshot_export_locations (snapshot_instance_id, path);

CREATE TABLE snapshot_access_rules (
    id          TEXT   NOT NULL PRIMARY KEY,
    snapshot_id TEXT   NOT NULL REFERENCES share_snapshots (id),
    access_type TEXT   NOT NULL,
    access_to   TEXT   NOT NULL,
    state       TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT
);
CREATE UNIQUE INDEX snapshot_access_rules_target ON snapshot_access_rules (snapshot_id, access_type, access_to);

-- Whose a message is: block, share.
ALTER TABLE messages ADD COLUMN service TEXT NOT NULL DEFAULT 'block';
