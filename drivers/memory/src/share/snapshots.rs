//! Snapshots of shares, mounting them, and back to them.

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::prelude::*;

use super::{ShareData, gone};
use crate::{
    Memory,
    array::{Array, Object, RULES, SHARE_SNAPSHOTS, SHARES},
};

#[derive(Debug, Serialize, Deserialize)]
pub struct SnapshotData {
    pub content: String,
}

pub fn id_of(snapshot: &ShareSnapshot) -> String {
    format!("{}.{}", snapshot.share_id, snapshot.id)
}

impl Memory {
    pub fn share_snapshot_content(&self, array: &dyn Array, snapshot: &ShareSnapshot) -> Result<String> {
        let object = array.get(SHARE_SNAPSHOTS, &id_of(snapshot))?;
        let object = object.ok_or_else(|| DriverError::not_found(format!("the array has no snapshot {}", snapshot.id)))?;
        Ok(object.read::<SnapshotData>()?.content)
    }

    /// Where a snapshot can be mounted: beside its share.
    pub fn snapshot_locations(&self, array: &dyn Array, share: &ShareData, snapshot_id: &str) -> Result<Vec<ExportLocation>> {
        self.locations(array, share.server.as_deref(), &share.protocol, "snapshots", snapshot_id)
    }
}

impl ShareSnapshots for Memory {
    fn create_share_snapshot(&self, cx: &Context, snapshot: &ShareSnapshot, share: &Share) -> Result<ShareSnapshotUpdate> {
        self.verb(cx, &snapshot.id, &snapshot.name, |_| {
            let array = self.array(cx);
            let (object, data) = self.share(&*array, &share.id)?;
            let taken = Object::new(&object.pool, object.gib, &SnapshotData { content: data.content.clone() })?;
            array.create(SHARE_SNAPSHOTS, &id_of(snapshot), &taken, self.config.pool(&object.pool)?.limit_gib())?;
            let locations = self.snapshot_locations(&*array, &data, &snapshot.id)?;
            Ok(ShareSnapshotUpdate { provider_id: Some(format!("memory-{}", snapshot.id)), provider_data: None, locations })
        })
    }

    fn delete_share_snapshot(&self, cx: &Context, snapshot: &ShareSnapshot, _: &Share) -> Result<()> {
        self.verb(cx, &snapshot.id, &snapshot.name, |_| {
            let array = self.array(cx);
            array.remove(RULES, &snapshot.id)?;
            array.remove(SHARE_SNAPSHOTS, &id_of(snapshot)).map(drop)
        })
    }
}

impl SnapshotAccess for Memory {
    fn apply_snapshot_access(
        &self,
        cx: &Context,
        snapshot: &ShareSnapshot,
        rules: &[AccessRule],
        _: &[AccessRule],
        _: &[AccessRule],
    ) -> Result<Vec<RuleState>> {
        self.verb(cx, &snapshot.id, &snapshot.name, |plan| {
            let array = self.array(cx);
            self.share_snapshot_content(&*array, snapshot)?;
            let (_, share) = self.share(&*array, &snapshot.share_id)?;
            self.apply_rules(&*array, plan, &snapshot.id, &share.protocol, rules)
        })
    }
}

impl ShareRevert for Memory {
    fn revert_share(&self, cx: &Context, share: &Share, snapshot: &ShareSnapshot, _: &[AccessRule], _: &[AccessRule]) -> Result<()> {
        self.verb(cx, &share.id, &share.name, |_| {
            let array = self.array(cx);
            let content = self.share_snapshot_content(&*array, snapshot)?;
            let reverted = array.change(SHARES, &share.id, None, &mut |object| {
                let mut data: ShareData = object.read()?;
                data.content.clone_from(&content);
                object.write(&data)?;
                Ok(true)
            })?;
            reverted.map(drop).ok_or_else(|| gone(&share.id))
        })
    }
}
