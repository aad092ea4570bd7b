//! `[block]`

use serde::{Deserialize, Serialize};

use super::filters::{self, ResourceFilters};

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
    /// What ordinary users may filter each list by. `name~` allows `name`, and from 3.34 `name~=part`, too.
    pub resource_filters: ResourceFilters,
}

impl BlockConfig {
    /// The filters of one resource.
    pub fn filters_of(&self, resource: &str) -> Vec<&str> {
        match self.resource_filters.get(resource) {
            Some(own) => own.iter().map(String::as_str).collect(),
            None => filters::DEFAULT.iter().find(|(r, _)| *r == resource).map(|(_, f)| f.to_vec()).unwrap_or_default(),
        }
    }
}

impl Default for BlockConfig {
    fn default() -> Self {
        Self {
            default_availability_zone: "nova".to_owned(),
            default_volume_type: "__DEFAULT__".to_owned(),
            backend_name_field: true,
            osapi_max_limit: 1000,
            no_snapshot_gb_quota: false,
            resource_filters: filters::default_table(),
        }
    }
}
