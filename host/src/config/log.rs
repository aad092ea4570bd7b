//! `[log]`

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// `human` or `json` (one object a line). Both go to standard error.
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug`, `trace`, or directives such as `info,stowage::jobs=debug`.
    pub level: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Human,
    Json,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { format: LogFormat::Human, level: "info".to_owned() }
    }
}
