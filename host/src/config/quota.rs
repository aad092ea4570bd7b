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
}

impl Default for QuotaConfig {
    fn default() -> Self {
        Self { volumes: 10, snapshots: 10, gigabytes: 1000, per_volume_gigabytes: -1, backups: 10, backup_gigabytes: 1000, groups: 10 }
    }
}
