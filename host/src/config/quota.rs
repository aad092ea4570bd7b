//! `[quota]`: limits of a project that has none of its own. -1: no limit.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuotaConfig {
    pub volumes: i64,
    pub snapshots: i64,
    pub gigabytes: i64,
    pub per_volume_gigabytes: i64,
    pub backups: i64,
    pub backup_gigabytes: i64,
    pub groups: i64,
    pub share: ShareQuotaConfig,
}

/// `[quota.share]`: the same for shared file systems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShareQuotaConfig {
    pub shares: i64,
    pub gigabytes: i64,
    pub per_share_gigabytes: i64,
    pub snapshots: i64,
    pub snapshot_gigabytes: i64,
    pub share_networks: i64,
    pub share_groups: i64,
    pub share_group_snapshots: i64,
    pub share_replicas: i64,
    pub replica_gigabytes: i64,
    pub backups: i64,
    pub backup_gigabytes: i64,
    pub encryption_keys: i64,
}

impl Default for QuotaConfig {
    fn default() -> Self {
        Self {
            volumes: 10,
            snapshots: 10,
            gigabytes: 1000,
            per_volume_gigabytes: -1,
            backups: 10,
            backup_gigabytes: 1000,
            groups: 10,
            share: ShareQuotaConfig::default(),
        }
    }
}

impl Default for ShareQuotaConfig {
    fn default() -> Self {
        Self {
            shares: 50,
            gigabytes: 1000,
            per_share_gigabytes: -1,
            snapshots: 50,
            snapshot_gigabytes: 1000,
            share_networks: 10,
            share_groups: 50,
            share_group_snapshots: 50,
            share_replicas: 100,
            replica_gigabytes: 1000,
            backups: 10,
            backup_gigabytes: 1000,
            encryption_keys: 100,
        }
    }
}
