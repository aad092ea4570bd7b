//! The limits that hold where neither a project nor the class `default` has its own: those of the configuration.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::UNLIMITED;
use crate::config::{QuotaConfig, ShareQuotaConfig};

/// The name of the class every project belongs to.
pub const DEFAULT_CLASS: &str = "default";

/// What is shown for the block API, in the order of its answers.
pub const BLOCK: [&str; 7] = ["volumes", "snapshots", "gigabytes", "backups", "backup_gigabytes", "per_volume_gigabytes", "groups"];

/// What is shown for the share API, in the order of its answers.
pub const SHARE: [&str; 13] = [
    "shares",
    "gigabytes",
    "snapshots",
    "snapshot_gigabytes",
    "share_networks",
    "share_groups",
    "share_group_snapshots",
    "share_replicas",
    "replica_gigabytes",
    "per_share_gigabytes",
    "backups",
    "backup_gigabytes",
    "encryption_keys",
];

/// What the share API calls `name`, as it is kept: both APIs have `gigabytes`.
pub fn share_resource(name: &str) -> String {
    format!("{SHARE_PREFIX}{name}")
}

/// What stands in front of the share API's resources where they are kept.
pub const SHARE_PREFIX: &str = "share:";

/// The configured limits, replaced as a whole when the configuration is reloaded. Cheap to clone; all clones see the same.
#[derive(Debug, Clone, Default)]
pub struct QuotaDefaults(Arc<ArcSwap<QuotaConfig>>);

impl QuotaDefaults {
    pub fn set(&self, config: QuotaConfig) {
        self.0.store(Arc::new(config));
    }

    /// The limit of a resource. Per-type resources (`volumes_<type>`) and unknown ones are unlimited.
    pub fn limit(&self, resource: &str) -> i64 {
        let config = self.0.load();
        if let Some(resource) = resource.strip_prefix(SHARE_PREFIX) {
            return share_limit(&config.share, resource);
        }
        match resource {
            "volumes" => config.volumes,
            "snapshots" => config.snapshots,
            "gigabytes" => config.gigabytes,
            "backups" => config.backups,
            "backup_gigabytes" => config.backup_gigabytes,
            "per_volume_gigabytes" => config.per_volume_gigabytes,
            "groups" => config.groups,
            _ => UNLIMITED,
        }
    }
}

fn share_limit(config: &ShareQuotaConfig, resource: &str) -> i64 {
    match resource {
        "shares" => config.shares,
        "gigabytes" => config.gigabytes,
        "per_share_gigabytes" => config.per_share_gigabytes,
        "snapshots" => config.snapshots,
        "snapshot_gigabytes" => config.snapshot_gigabytes,
        "share_networks" => config.share_networks,
        "share_groups" => config.share_groups,
        "share_group_snapshots" => config.share_group_snapshots,
        "share_replicas" => config.share_replicas,
        "replica_gigabytes" => config.replica_gigabytes,
        "backups" => config.backups,
        "backup_gigabytes" => config.backup_gigabytes,
        "encryption_keys" => config.encryption_keys,
        _ => UNLIMITED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_apis_limits_of_one_name_are_two() {
        let defaults = QuotaDefaults::default();
        defaults.set(QuotaConfig {
            gigabytes: 1,
            share: ShareQuotaConfig { gigabytes: 2, ..ShareQuotaConfig::default() },
            ..QuotaConfig::default()
        });
        assert_eq!((defaults.limit("gigabytes"), defaults.limit(&share_resource("gigabytes"))), (1, 2));
        assert_eq!(defaults.limit("shares"), UNLIMITED, "of the block API there is none");
    }

    #[test]
    fn every_shown_share_resource_has_a_configured_limit() {
        let shown: Vec<i64> = SHARE.iter().map(|name| QuotaDefaults::default().limit(&share_resource(name))).collect();
        assert_eq!(shown, [50, 1000, 50, 1000, 10, 50, 50, 100, 1000, -1, 10, 1000, 100]);
    }

    #[test]
    fn every_shown_resource_has_its_configured_limit() {
        let defaults = QuotaDefaults::default();
        let each = QuotaConfig {
            volumes: 1,
            snapshots: 2,
            gigabytes: 3,
            per_volume_gigabytes: 6,
            backups: 4,
            backup_gigabytes: 5,
            groups: 7,
            ..QuotaConfig::default()
        };
        defaults.set(each);
        assert_eq!(BLOCK.map(|name| defaults.limit(name)), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(defaults.limit("volumes_gold"), UNLIMITED);
    }
}
