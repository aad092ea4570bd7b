//! The limits that hold where neither a project nor the class `default` has its own: those of the configuration.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::UNLIMITED;
use crate::config::QuotaConfig;

/// The name of the class every project belongs to.
pub const DEFAULT_CLASS: &str = "default";

/// What is shown for the block API, in the order of its answers.
pub const BLOCK: [&str; 7] = ["volumes", "snapshots", "gigabytes", "backups", "backup_gigabytes", "per_volume_gigabytes", "groups"];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shown_resource_has_its_configured_limit() {
        let defaults = QuotaDefaults::default();
        let each =
            QuotaConfig { volumes: 1, snapshots: 2, gigabytes: 3, per_volume_gigabytes: 6, backups: 4, backup_gigabytes: 5, groups: 7 };
        defaults.set(each);
        assert_eq!(BLOCK.map(|name| defaults.limit(name)), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(defaults.limit("volumes_gold"), UNLIMITED);
    }
}
