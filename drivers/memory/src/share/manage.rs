//! Shares that somebody else made: those of the option `foreign`, exported as `ADDRESS:/NAME`, and those that were released;
//! snapshots that were released, under the name that the array gave them.

use stowage_driver_sdk::prelude::*;

use super::{ShareData, protocol_name, snapshots::id_of};
use crate::{
    Memory,
    array::{FOREIGN, Object, RULES, SHARE_SNAPSHOTS, SHARES},
    foreign::TAKEN,
};

/// The last part of the path names the share.
fn named(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

impl ShareManage for Memory {
    fn adopt_share(&self, cx: &Context, share: &Share, export_path: &str, _: &[KeyValue]) -> Result<AdoptedShare> {
        let name = named(export_path);
        self.verb(cx, &share.id, name, |_| {
            let array = self.array(cx);
            let unknown =
                || DriverError::invalid(format!("nothing is exported at `{export_path}`")).for_user("Nothing is exported at this path.");
            let (object, data) = match array.get(SHARES, &share.id)? {
                Some(there) => {
                    let data = there.read()?;
                    (there, data)
                }
                None => {
                    let managed = || DriverError::busy(format!("`{export_path}` is managed already"));
                    if array.get(SHARES, name)?.is_some() {
                        return Err(managed());
                    }
                    let mut data = ShareData {
                        content: format!("foreign {name}"),
                        polls_left: 0,
                        protocol: protocol_name(&share.protocol),
                        server: share.server.as_ref().map(|s| s.id.clone()),
                        adopted: Some(name.to_owned()),
                        used_gib: 0,
                        origin: None,
                    };
                    let object = match array.get(FOREIGN, name)? {
                        Some(taken) if taken.data == TAKEN => return Err(managed()),
                        Some(released) => {
                            data.content = released.read::<ShareData>()?.content;
                            Object::new(&released.pool, released.gib, &data)?
                        }
                        None => {
                            let configured = self.config.foreign.iter().find(|f| f.name == name).ok_or_else(unknown)?;
                            Object::new(&configured.pool, configured.gib, &data)?
                        }
                    };
                    array.create(SHARES, &share.id, &object, None)?;
                    self.adopted(&*array, name, &object.pool)?;
                    (object, data)
                }
            };
            Ok(AdoptedShare { size_gib: object.gib, update: self.share_update(&*array, &share.id, &data)? })
        })
    }

    fn release_share(&self, cx: &Context, share: &Share) -> Result<()> {
        self.verb(cx, &share.id, &share.name, |_| {
            let array = self.array(cx);
            let Some(object) = array.get(SHARES, &share.id)? else { return Ok(()) };
            let name = object.read::<ShareData>()?.adopted.unwrap_or_else(|| share.id.clone());
            array.remove(FOREIGN, &name)?;
            array.create(FOREIGN, &name, &object, None)?;
            array.remove(SHARES, &share.id).map(drop)
        })
    }
}

impl ShareSnapshotManage for Memory {
    fn adopt_share_snapshot(
        &self,
        cx: &Context,
        snapshot: &ShareSnapshot,
        share: &Share,
        location: &str,
        _: &[KeyValue],
    ) -> Result<AdoptedShareSnapshot> {
        self.verb(cx, &snapshot.id, &snapshot.name, |_| {
            let array = self.array(cx);
            let (_, data) = self.share(&*array, &share.id)?;
            let name = location.strip_prefix("memory-").unwrap_or(location);
            let there = format!("{}.{name}", share.id);
            let object = match array.get(SHARE_SNAPSHOTS, &id_of(snapshot))? {
                Some(object) => object,
                None if array.get(SHARE_SNAPSHOTS, &there)?.is_some() => {
                    return Err(DriverError::busy(format!("`{location}` is managed already")));
                }
                None => {
                    let object = array.get(FOREIGN, &there)?.ok_or_else(|| {
                        DriverError::invalid(format!("share {} has no snapshot `{location}`", share.id))
                            .for_user("The share has no such snapshot.")
                    })?;
                    array.create(SHARE_SNAPSHOTS, &id_of(snapshot), &object, None)?;
                    array.remove(FOREIGN, &there)?;
                    object
                }
            };
            let locations = self.snapshot_locations(&*array, &data, &snapshot.id)?;
            let update = ShareSnapshotUpdate { provider_id: Some(format!("memory-{}", snapshot.id)), provider_data: None, locations };
            Ok(AdoptedShareSnapshot { size_gib: object.gib, update })
        })
    }

    fn release_share_snapshot(&self, cx: &Context, snapshot: &ShareSnapshot, _: &Share) -> Result<()> {
        self.verb(cx, &snapshot.id, &snapshot.name, |_| {
            let array = self.array(cx);
            let Some(object) = array.get(SHARE_SNAPSHOTS, &id_of(snapshot))? else { return Ok(()) };
            array.create(FOREIGN, &id_of(snapshot), &object, None)?;
            array.remove(RULES, &snapshot.id)?;
            array.remove(SHARE_SNAPSHOTS, &id_of(snapshot)).map(drop)
        })
    }
}
