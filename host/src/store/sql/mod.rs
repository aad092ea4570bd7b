//! One file an aggregate: its row, its statements. Functions on [`Store`](super::Store) read; functions on
//! [`Tx`](super::Tx) write (and read what they must see inside the transaction).

pub mod attachments;
pub mod backend_usage;
pub mod backends;
pub mod capacity_claims;
pub mod connect_turns;
pub mod driver_blobs;
pub mod driver_kv;
pub mod driver_locks;
pub mod driver_uses;
pub mod identity_domains;
pub mod identity_projects;
pub mod identity_roles;
pub mod identity_tokens;
pub mod identity_users;
pub mod jobs;
pub mod messages;
pub mod metadata;
pub mod outbox;
pub mod placements;
pub mod pools;
pub mod qos_specs;
pub mod quota;
pub mod quota_count;
pub mod settings;
pub mod snapshot_list;
pub mod snapshots;
pub mod tombstones;
pub mod transfers;
pub mod volume_list;
pub mod volume_types;
pub mod volume_work;
pub mod volumes;
pub mod volumes_shared_targets;
pub mod workers;
