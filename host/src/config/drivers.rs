//! `[drivers]`

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::duration;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DriversConfig {
    /// The plugin folder: one `<driver>.wasm` a driver. Empty: `drivers` in the state folder.
    pub folder: PathBuf,
    /// Compiled drivers, by hash. Empty: `cache` in the state folder.
    pub cache: PathBuf,
    /// Watch the folder; otherwise only `POST /stowage/v1/drivers/reload` looks.
    pub watch: bool,
    /// How long a file must lie still before it is read.
    #[serde(with = "duration")]
    pub settle: Duration,
    /// Most driver instances at once in this process; each costs address space, and memory as it touches it.
    pub max_instances: u32,
}

impl Default for DriversConfig {
    fn default() -> Self {
        Self { folder: PathBuf::new(), cache: PathBuf::new(), watch: true, settle: Duration::from_millis(300), max_instances: 256 }
    }
}
