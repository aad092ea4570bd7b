//! Volumes: create, extend, delete.

use stowage_driver_sdk::{
    prelude::*,
    serde_json::{Value as Json, json},
};

use crate::{Linux, names, wire};

impl Linux {
    /// Makes a volume with this content. The node finds what an earlier run made, and refuses an id that is something else.
    pub fn make(&self, cx: &Context, volume: &Volume, source: Json) -> Result<VolumeOutcome> {
        let layout = self.config.layout_of(&volume.specs)?;
        if !volume.qos.is_empty() {
            cx.warn(format!("volume {}: its type asks the back end for a quality of service; nodes have none", volume.id));
        }
        let body = json!({ "size_gib": volume.size_gib, "layout": layout, "source": source });
        let made: wire::Volume = self.node(cx, &volume.pool)?.put(&names::volume(&volume.id)?, &body)?;
        made.checked(&volume.id, volume.size_gib)?;
        Ok(VolumeOutcome::made())
    }
}

impl Volumes for Linux {
    fn create_volume(&self, cx: &Context, volume: &Volume) -> Result<VolumeOutcome> {
        self.make(cx, volume, Json::Null)
    }

    fn delete_volume(&self, cx: &Context, volume: &Volume) -> Result<()> {
        self.node(cx, &volume.pool)?.delete(&names::volume(&volume.id)?)
    }

    fn extend_volume(&self, cx: &Context, volume: &Volume, new_size_gib: u64) -> Result<VolumeOutcome> {
        let node = self.node(cx, &volume.pool)?;
        let path = names::volume(&volume.id)?;
        let extended = match node.put::<wire::Volume>(&format!("{path}/size"), &json!({ "size_gib": new_size_gib })) {
            // "a shrink": it is larger already, which the contract calls done
            Err(e) if e.kind == ErrorKind::DataLossRisk => node.get(&path)?,
            other => other?,
        };
        extended.checked(&volume.id, new_size_gib)?;
        Ok(VolumeOutcome::made())
    }
}
