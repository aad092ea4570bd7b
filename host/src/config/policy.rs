//! `[policy]`

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyConfig {
    /// A `policy.yaml` in oslo.policy's rule language that overrides the defaults; empty: none.
    pub file: PathBuf,
}
