//! `[share]`

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::duration;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShareConfig {
    /// Protocols that shares may be asked for with: NFS, CIFS, GLUSTERFS, HDFS, CEPHFS, MAPRFS, LUSTRE, WEKAFS.
    pub enabled_share_protocols: Vec<String>,
    /// Type of a share whose request names none. Empty: then a request must name one.
    pub default_share_type: String,
    /// Most rows a list returns, whatever `limit` asks, and how many without `limit`; 1 to 10000.
    pub osapi_max_limit: u32,
    /// How long a share stays in the recycle bin before it is deleted.
    #[serde(with = "duration")]
    pub soft_deleted_share_retention: Duration,
    /// Whether share servers on which no share is any more are torn down.
    pub automatic_share_server_cleanup: bool,
    /// How long such a server waits for another share before that.
    #[serde(with = "duration")]
    pub unused_share_server_cleanup_interval: Duration,
    /// Whether a share server is torn down at once when its last share is deleted, rather than after that.
    pub delete_share_server_with_last_share: bool,
    /// Keys of shares' metadata that only administrators write.
    pub admin_only_metadata: Vec<String>,
    /// Keys of export locations' metadata that only administrators write.
    pub admin_only_location_metadata: Vec<String>,
    /// Whether shares show `ensuring` while their back end is asked how they stand.
    pub update_shares_status_on_ensure: bool,
}

impl ShareConfig {
    /// Every protocol there is.
    pub const PROTOCOLS: [&'static str; 8] = ["NFS", "CIFS", "GLUSTERFS", "HDFS", "CEPHFS", "MAPRFS", "LUSTRE", "WEKAFS"];

    /// Whether shares may be asked for with this protocol.
    pub fn offers(&self, protocol: &str) -> bool {
        self.enabled_share_protocols.iter().any(|p| p.eq_ignore_ascii_case(protocol))
    }
}

impl Default for ShareConfig {
    fn default() -> Self {
        let words = |list: &[&str]| list.iter().map(|w| (*w).to_owned()).collect();
        Self {
            enabled_share_protocols: words(&["NFS", "CIFS"]),
            default_share_type: crate::domain::share_type::DEFAULT_TYPE_NAME.to_owned(),
            osapi_max_limit: 1000,
            soft_deleted_share_retention: Duration::from_secs(7 * 24 * 3600),
            automatic_share_server_cleanup: true,
            unused_share_server_cleanup_interval: Duration::from_secs(600),
            delete_share_server_with_last_share: false,
            admin_only_metadata: words(&["__affinity_same_host", "__affinity_different_host", "__managed_at"]),
            admin_only_location_metadata: words(&["preferred"]),
            update_shares_status_on_ensure: true,
        }
    }
}
