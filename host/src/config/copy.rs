//! `[copy]`

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::duration;

/// How volumes are copied from one back end to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CopyConfig {
    /// `qemu-img`, looked for in PATH unless it is a path.
    pub program: PathBuf,
    /// Where its modules are, if it does not find its iSCSI module by itself. Empty: where it was built for.
    pub module_dir: PathBuf,
    /// Most MiB a second that one copy writes, zeros included; 0: no limit. The comparison afterwards reads without a limit.
    pub bandwidth_mib: u32,
    /// Most copies at once in this process; more wait.
    pub concurrency: usize,
    /// Compare the new volume with the old one before it takes its place.
    pub verify: bool,
    /// A copy that does not go on for this long has failed; large volumes get longer.
    #[serde(with = "duration")]
    pub stall: Duration,
    /// After this long a move that has not ended is given up, and the volume stays where it was.
    #[serde(with = "duration")]
    pub max_age: Duration,
}

impl Default for CopyConfig {
    fn default() -> Self {
        Self {
            program: PathBuf::from("qemu-img"),
            module_dir: PathBuf::new(),
            bandwidth_mib: 0,
            concurrency: 2,
            verify: true,
            stall: Duration::from_secs(600),
            max_age: Duration::from_secs(24 * 3600),
        }
    }
}
