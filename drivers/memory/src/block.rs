//! The array's volumes.

mod connections;
mod exported;
mod manage;
mod poll;
mod replication;
mod snapshots;
pub mod volumes;

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::prelude::*;

use crate::{
    Memory,
    array::{Array, Object, VOLUMES},
};

/// What the array knows of a volume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VolumeData {
    /// What it "holds": the id of the volume whose first content this was, and a count of reverts.
    pub content: String,
    /// Asked so often more before the work is done.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub polls_left: u32,
    /// What it was called before it was adopted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<String>,
    /// Specs of its type, as of the last retype.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub specs: Vec<(String, String)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Memory {
    /// A volume that has to be there.
    fn volume(&self, array: &dyn Array, id: &str) -> Result<(Object, VolumeData)> {
        let object = array.get(VOLUMES, id)?.ok_or_else(|| gone(id))?;
        let data = object.read()?;
        Ok((object, data))
    }
}

fn gone(id: &str) -> DriverError {
    DriverError::not_found(format!("the array has no volume {id}")).for_user("The volume is missing in the storage.")
}
