//! `[block]`

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlockConfig {
    /// Zone of a volume whose request names none, and of a back end that names none.
    pub default_availability_zone: String,
    /// Type of a volume whose request names none.
    pub default_volume_type: String,
    /// Show `backend_name` beside `service_uuid` from 3.48. Tempest's closed schemas refuse it: turn it off for Tempest.
    pub backend_name_field: bool,
    /// Most rows a list returns, whatever `limit` asks, and how many without `limit`; 1 to 10000.
    pub osapi_max_limit: u32,
    /// Snapshots do not count in their project's gigabytes. One counts as it was accepted, whatever this says later.
    pub no_snapshot_gb_quota: bool,
}

impl Default for BlockConfig {
    fn default() -> Self {
        Self {
            default_availability_zone: "nova".to_owned(),
            default_volume_type: "__DEFAULT__".to_owned(),
            backend_name_field: true,
            osapi_max_limit: 1000,
            no_snapshot_gb_quota: false,
        }
    }
}
