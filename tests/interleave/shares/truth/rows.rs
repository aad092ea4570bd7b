//! The rows of the database, as far as they are compared with anything.

use crate::{database::Database, shares::world::BACKENDS};

const SHARES: &str = "SELECT s.id || '|' || i.id || '|' || s.status || '|' || i.status || '|' || COALESCE(i.host, '') || '|' || COALESCE(i.share_server_id, '') || '|' || \
    CAST(s.size_gib AS TEXT) || '|' || s.share_proto || '|' || i.access_rules_status || '|' || COALESCE(CAST(s.resize_to AS TEXT), '') \
    FROM shares s JOIN share_instances i ON i.share_id = s.id ORDER BY s.id";
const SNAPSHOTS: &str = "SELECT p.id || '|' || pi.id || '|' || p.share_id || '|' || pi.share_instance_id || '|' || p.status || '|' || pi.status || '|' || CAST(p.size_gib AS TEXT) || '|' || \
    CASE WHEN pi.backed THEN 'backed' ELSE '' END FROM share_snapshots p JOIN share_snapshot_instances pi ON pi.snapshot_id = p.id ORDER BY p.id";
const RULES: &str = "SELECT id || '|' || share_id || '|' || access_to || '|' || access_level || '|' || state FROM share_access_rules \
    UNION ALL SELECT id || '|' || snapshot_id || '|' || access_to || '|ro|' || state FROM snapshot_access_rules";
const LOCATIONS: &str = "SELECT share_instance_id || '|' || path || '|' || CASE WHEN admin_only THEN 'admin' ELSE '' END || '|' || CASE WHEN preferred THEN 'preferred' ELSE '' END \
    FROM share_export_locations ORDER BY share_instance_id, position";
const SNAPSHOT_LOCATIONS: &str = "SELECT snapshot_instance_id || '|' || path || '|' || CASE WHEN admin_only THEN 'admin' ELSE '' END || '|' \
    FROM snapshot_export_locations ORDER BY snapshot_instance_id, position";
const SERVERS: &str = "SELECT id || '|' || backend || '|' || status || '|' || share_network_id || '|' || COALESCE(failed_detail, '') || '|' || \
    CASE WHEN idle_since IS NULL THEN '' ELSE 'idle' END FROM share_servers ORDER BY id";
const MEMBERSHIPS: &str = "SELECT share_server_id || '|' || subnet_id || '|' || CASE WHEN applied THEN 'applied' ELSE '' END FROM share_server_subnets ORDER BY subnet_id";
const ALLOCATIONS: &str = "SELECT share_server_id || '|' || COALESCE(subnet_id, '') || '|' || network_key || '|' || ip_address FROM network_allocations ORDER BY ip_address";
const NETWORKS: &str =
    "SELECT id || '|' || status || '|' || CASE WHEN deleting THEN 'deleting' ELSE '' END FROM share_networks ORDER BY id";
const FREE: &str = "SELECT network_key || '|' || CAST(first_position AS TEXT) || '|' || CAST(last_position AS TEXT) FROM network_free ORDER BY network_key, first_position";

pub struct Share {
    pub id: String,
    pub instance: String,
    pub status: String,
    pub instance_status: String,
    /// Empty: it is nowhere.
    pub host: String,
    pub server: Option<String>,
    pub gib: u64,
    pub protocol: String,
    pub rules_status: String,
    pub resize_to: String,
}

impl Share {
    /// The array that it is on.
    pub fn place(&self) -> Option<usize> {
        let backend = self.host.split_once('#')?.0;
        BACKENDS.iter().position(|b| *b == backend)
    }
}

pub struct Snapshot {
    pub id: String,
    pub instance: String,
    pub share: String,
    pub share_instance: String,
    pub status: String,
    pub instance_status: String,
    pub gib: u64,
    /// The array may hold something of it.
    pub backed: bool,
}

/// Of a share or of a snapshot.
pub struct Rule {
    pub id: String,
    pub of: String,
    pub to: String,
    pub level: String,
    pub state: String,
}

pub struct Location {
    /// The instance of a share or of a snapshot.
    pub of: String,
    pub path: String,
    pub admin_only: bool,
    pub preferred: bool,
}

pub struct Server {
    pub id: String,
    pub backend: String,
    pub status: String,
    pub network: String,
    /// It could not be built.
    pub never_was: bool,
    pub idle: bool,
}

/// A server on a subnet.
pub struct Membership {
    pub server: String,
    pub subnet: String,
    pub applied: bool,
}

pub struct Allocation {
    pub server: String,
    /// Empty: in the operator's own.
    pub subnet: String,
    pub key: String,
    pub address: String,
}

pub struct Network {
    pub id: String,
    pub status: String,
    /// Nobody sees it any more.
    pub hidden: bool,
}

/// Addresses that may be given.
pub struct Free {
    pub key: String,
    pub first: i64,
    pub last: i64,
}

pub struct Rows {
    pub shares: Vec<Share>,
    pub snapshots: Vec<Snapshot>,
    pub rules: Vec<Rule>,
    pub locations: Vec<Location>,
    pub servers: Vec<Server>,
    pub memberships: Vec<Membership>,
    pub allocations: Vec<Allocation>,
    pub networks: Vec<Network>,
    pub free: Vec<Free>,
}

async fn read<const N: usize, T>(database: &Database, sql: &'static str, make: impl Fn([String; N]) -> T) -> Vec<T> {
    let parts = |row: &String| row.split('|').map(str::to_owned).collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{row}"));
    database.texts(sql).await.iter().map(|row| make(parts(row))).collect()
}

impl Rows {
    pub async fn read(database: &Database) -> Self {
        let location = |[of, path, admin, preferred]: [String; 4]| Location {
            of,
            path,
            admin_only: !admin.is_empty(),
            preferred: !preferred.is_empty(),
        };
        let mut locations = read(database, LOCATIONS, location).await;
        locations.extend(read(database, SNAPSHOT_LOCATIONS, location).await);
        Self {
            shares: read(
                database,
                SHARES,
                |[id, instance, status, instance_status, host, server, gib, protocol, rules_status, resize_to]| Share {
                    id,
                    instance,
                    status,
                    instance_status,
                    host,
                    server: Some(server).filter(|s| !s.is_empty()),
                    gib: gib.parse().unwrap(),
                    protocol,
                    rules_status,
                    resize_to,
                },
            )
            .await,
            snapshots: read(database, SNAPSHOTS, |[id, instance, share, share_instance, status, instance_status, gib, backed]| Snapshot {
                id,
                instance,
                share,
                share_instance,
                status,
                instance_status,
                gib: gib.parse().unwrap(),
                backed: !backed.is_empty(),
            })
            .await,
            rules: read(database, RULES, |[id, of, to, level, state]| Rule { id, of, to, level, state }).await,
            locations,
            servers: read(database, SERVERS, |[id, backend, status, network, failed, idle]| Server {
                id,
                backend,
                status,
                network,
                never_was: !failed.is_empty(),
                idle: !idle.is_empty(),
            })
            .await,
            memberships: read(database, MEMBERSHIPS, |[server, subnet, applied]| Membership {
                server,
                subnet,
                applied: !applied.is_empty(),
            })
            .await,
            allocations: read(database, ALLOCATIONS, |[server, subnet, key, address]| Allocation { server, subnet, key, address }).await,
            networks: read(database, NETWORKS, |[id, status, hidden]| Network { id, status, hidden: !hidden.is_empty() }).await,
            free: read(database, FREE, |[key, first, last]| Free { key, first: first.parse().unwrap(), last: last.parse().unwrap() }).await,
        }
    }

    pub fn share(&self, id: &str) -> Option<&Share> {
        self.shares.iter().find(|s| s.id == id)
    }
    pub fn server(&self, id: &str) -> Option<&Server> {
        self.servers.iter().find(|s| s.id == id)
    }
}
