//! Volumes made of volumes and of snapshots: blocks shared within one node, so never from one node to another.

use stowage_driver_sdk::{prelude::*, serde_json::json};

use crate::{Linux, names, snapshots};

fn elsewhere(what: &str, source: &str, wanted: &str) -> DriverError {
    let why = format!("the {what} is in pool `{source}`, the new volume shall be in `{wanted}`: a copy is possible within one node only");
    DriverError::unsupported(why).for_user("A copy has to be made in the storage pool of its source.")
}

impl VolumeClone for Linux {
    fn clone_volume(&self, cx: &Context, volume: &Volume, source: &Volume) -> Result<VolumeOutcome> {
        if source.pool != volume.pool {
            return Err(elsewhere("source", &source.pool, &volume.pool));
        }
        names::volume(&source.id)?;
        self.make(cx, volume, json!({ "volume": source.id }))
    }
}

impl VolumeFromSnapshot for Linux {
    fn create_volume_from_snapshot(&self, cx: &Context, volume: &Volume, snapshot: &VolumeSnapshot) -> Result<VolumeOutcome> {
        // Without the mark (a snapshot whose answer was lost) the node itself says that it does not have the snapshot.
        if let Some(pool) = snapshots::pool_of(snapshot).filter(|pool| *pool != volume.pool) {
            return Err(elsewhere("snapshot", &pool, &volume.pool));
        }
        names::snapshot(&snapshot.id)?;
        self.make(cx, volume, json!({ "snapshot": snapshot.id }))
    }
}
