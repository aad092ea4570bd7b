//! Create, delete, extend, clone, from snapshot, retype.

use stowage_driver_sdk::prelude::*;

use super::{VolumeData, gone};
use crate::{
    Memory,
    array::{CONNECTIONS, Created, Object, SNAPSHOTS, VOLUMES},
    faults::Plan,
};

impl Memory {
    /// Makes a volume with this content, or finds the one an earlier call made.
    fn make(&self, cx: &Context, plan: &Plan, volume: &Volume, content: &str) -> Result<VolumeOutcome> {
        let array = self.array(cx);
        let specs = volume.specs.iter().map(|kv| (kv.key.clone(), kv.value.clone())).collect();
        let data = VolumeData { content: content.to_owned(), polls_left: plan.polls, adopted: None, specs };
        let object = Object::new(&volume.pool, volume.size_gib, &data)?;
        let polls_left = match array.create(VOLUMES, &volume.id, &object, self.config.pool(&volume.pool)?.limit_gib())? {
            Created::New => plan.polls,
            Created::There(there) => there.read::<VolumeData>()?.polls_left,
        };
        if polls_left > 0 {
            return Ok(VolumeOutcome::Pending(Pending::new(format!("volume/{}", volume.id), 100)));
        }
        Ok(made(plan, &volume.id))
    }
}

/// The answer for a finished volume.
pub fn made(plan: &Plan, id: &str) -> VolumeOutcome {
    // Longer than any provider id may be.
    if plan.lie { VolumeOutcome::made_as("lie".repeat(10_000)) } else { VolumeOutcome::made_as(format!("memory-{id}")) }
}

impl Volumes for Memory {
    fn create_volume(&self, cx: &Context, volume: &Volume) -> Result<VolumeOutcome> {
        self.verb(cx, &volume.id, &volume.name, |plan| self.make(cx, plan, volume, &format!("empty {}", volume.id)))
    }

    fn delete_volume(&self, cx: &Context, volume: &Volume) -> Result<()> {
        self.verb(cx, &volume.id, &volume.name, |_| {
            let array = self.array(cx);
            let below = format!("{}.", volume.id);
            if !array.list(SNAPSHOTS, &below)?.is_empty() {
                return Err(DriverError::busy("the volume has snapshots").for_user("The volume has snapshots."));
            }
            let connections = array.list(CONNECTIONS, &below)?;
            if self.config.strict && !connections.is_empty() {
                return Err(DriverError::busy(format!("the volume is connected: {}", connections[0].0)));
            }
            for (id, _) in connections {
                array.remove(CONNECTIONS, &id)?;
            }
            for (id, _) in self.kept(cx, &below)? {
                self.forget(cx, &id)?;
            }
            array.remove(VOLUMES, &volume.id).map(drop)
        })
    }

    fn extend_volume(&self, cx: &Context, volume: &Volume, new_size_gib: u64) -> Result<VolumeOutcome> {
        self.verb(cx, &volume.id, &volume.name, |plan| {
            let limit = self.config.pool(&volume.pool)?.limit_gib();
            let grown = self.array(cx).change(VOLUMES, &volume.id, limit, &mut |object| {
                let mut data: VolumeData = object.read()?;
                let grow = object.gib < new_size_gib;
                if grow {
                    object.gib = new_size_gib;
                    data.polls_left = plan.polls;
                    object.write(&data)?;
                }
                Ok(grow)
            })?;
            let data: VolumeData = grown.ok_or_else(|| gone(&volume.id))?.read()?;
            if data.polls_left > 0 {
                return Ok(VolumeOutcome::Pending(Pending::new(format!("volume/{}", volume.id), 100)));
            }
            Ok(made(plan, &volume.id))
        })
    }
}

impl VolumeClone for Memory {
    fn clone_volume(&self, cx: &Context, volume: &Volume, source: &Volume) -> Result<VolumeOutcome> {
        self.verb(cx, &volume.id, &volume.name, |plan| {
            let (_, source) = self.volume(&*self.array(cx), &source.id)?;
            self.make(cx, plan, volume, &source.content)
        })
    }
}

impl VolumeFromSnapshot for Memory {
    fn create_volume_from_snapshot(&self, cx: &Context, volume: &Volume, snapshot: &VolumeSnapshot) -> Result<VolumeOutcome> {
        self.verb(cx, &volume.id, &volume.name, |plan| {
            let content = self.snapshot_content(&*self.array(cx), snapshot)?;
            self.make(cx, plan, volume, &content)
        })
    }
}

impl VolumeRetype for Memory {
    fn retype_volume(&self, cx: &Context, volume: &Volume, to: &NewType) -> Result<RetypeOutcome> {
        self.verb(cx, &volume.id, &volume.name, |_| {
            if to.pool != volume.pool {
                return Ok(RetypeOutcome::NeedsMigration);
            }
            let changed = self.array(cx).change(VOLUMES, &volume.id, None, &mut |object| {
                let mut data: VolumeData = object.read()?;
                data.specs = to.specs.iter().map(|kv| (kv.key.clone(), kv.value.clone())).collect();
                object.write(&data)?;
                Ok(true)
            })?;
            changed.ok_or_else(|| gone(&volume.id))?;
            Ok(RetypeOutcome::Done(VolumeUpdate::default()))
        })
    }
}
