//! Another type in place: the layout can change on an unattached volume, the node cannot.

use stowage_driver_sdk::{prelude::*, serde_json::json};

use crate::{Linux, names, wire};

impl VolumeRetype for Linux {
    fn retype_volume(&self, cx: &Context, volume: &Volume, to: &NewType) -> Result<RetypeOutcome> {
        if to.pool != volume.pool {
            return Ok(RetypeOutcome::NeedsMigration);
        }
        let layout = self.config.layout_of(&to.specs)?;
        let path = format!("{}/layout", names::volume(&volume.id)?);
        let changed: wire::Volume = self.node(cx, &volume.pool)?.put(&path, &json!({ "layout": layout }))?;
        let changed = changed.checked(&volume.id, volume.size_gib)?;
        if changed.layout != layout.name() {
            return Err(wire::unusable(format!("volume {} still has the layout {:?}", volume.id, changed.layout)));
        }
        Ok(RetypeOutcome::Done(VolumeUpdate::default()))
    }
}
