//! Volumes that somebody else made: those of the option `foreign`, and those that were released.

use stowage_driver_sdk::prelude::*;

use super::VolumeData;
use crate::{
    Memory,
    array::{Array, FOREIGN, Object, VOLUMES},
    foreign::TAKEN,
};

fn named(reference: &[KeyValue]) -> Result<&str> {
    KeyValue::find(reference, "source-name")
        .or_else(|| KeyValue::find(reference, "source-id"))
        .ok_or_else(|| DriverError::invalid("the reference has neither `source-name` nor `source-id`"))
}

impl Memory {
    /// The object that `name` means, before it was adopted.
    fn adoptable(&self, array: &dyn Array, name: &str) -> Result<Object> {
        let unknown =
            || DriverError::invalid(format!("the array has no volume called `{name}`")).for_user("No such volume in the storage.");
        let managed = || DriverError::busy(format!("`{name}` is managed already"));
        if let Some(object) = array.get(FOREIGN, name)? {
            return if object.data == TAKEN { Err(managed()) } else { Ok(object) };
        }
        if array.get(VOLUMES, name.strip_prefix("memory-").unwrap_or(name))?.is_some() {
            return Err(managed());
        }
        let configured = self.config.foreign.iter().find(|f| f.name == name).ok_or_else(unknown)?;
        Object::new(
            &configured.pool,
            configured.gib,
            &VolumeData { content: format!("foreign {name}"), polls_left: 0, adopted: None, specs: Vec::new() },
        )
    }
}

impl VolumeManage for Memory {
    fn size_of(&self, cx: &Context, reference: &[KeyValue]) -> Result<u64> {
        let name = named(reference)?;
        self.verb(cx, "", name, |plan| Ok(if plan.lie { 0 } else { self.adoptable(&*self.array(cx), name)?.gib }))
    }

    fn adopt_volume(&self, cx: &Context, volume: &Volume, reference: &[KeyValue]) -> Result<Adopted> {
        let name = named(reference)?;
        self.verb(cx, &volume.id, name, |_| {
            let array = self.array(cx);
            let adopted = |gib| Adopted {
                size_gib: gib,
                update: VolumeUpdate { provider_id: Some(format!("memory-{}", volume.id)), provider_data: None },
            };
            if let Some(there) = array.get(VOLUMES, &volume.id)? {
                return Ok(adopted(there.gib));
            }
            let mut object = self.adoptable(&*array, name)?;
            let gib = object.gib;
            let mut data: VolumeData = object.read()?;
            data.adopted = Some(name.to_owned());
            object.write(&data)?;
            array.create(VOLUMES, &volume.id, &object, None)?;
            self.adopted(&*array, name, &object.pool)?;
            Ok(adopted(gib))
        })
    }

    fn release_volume(&self, cx: &Context, volume: &Volume) -> Result<()> {
        self.verb(cx, &volume.id, &volume.name, |_| {
            let array = self.array(cx);
            let Some(object) = array.get(VOLUMES, &volume.id)? else { return Ok(()) };
            let data: VolumeData = object.read()?;
            let name = data.adopted.unwrap_or_else(|| format!("memory-{}", volume.id));
            array.remove(FOREIGN, &name)?;
            array.create(FOREIGN, &name, &object, None)?;
            array.remove(VOLUMES, &volume.id).map(drop)
        })
    }

    fn list_manageable(&self, cx: &Context, pool: &str, after: Option<&str>, limit: u32) -> Result<ManageablePage> {
        self.verb(cx, "", pool, |_| {
            let array = self.array(cx);
            let mut items: Vec<Manageable> = Vec::new();
            for (id, object) in array.list(VOLUMES, "")?.into_iter().filter(|(_, o)| o.pool == pool) {
                items.push(manageable(&format!("memory-{id}"), object.gib, Some(id)));
            }
            let released = array.list(FOREIGN, "")?;
            for (name, object) in released.iter().filter(|(_, o)| o.pool == pool && o.data != TAKEN) {
                items.push(manageable(name, object.gib, None));
            }
            for foreign in self.config.foreign.iter().filter(|f| f.pool == pool && !released.iter().any(|(n, _)| *n == f.name)) {
                items.push(manageable(&foreign.name, foreign.gib, None));
            }
            let name = |m: &Manageable| m.reference[0].value.clone();
            items.sort_by_key(name);
            items.retain(|m| after.is_none_or(|a| name(m).as_str() > a));
            let more = items.len() > limit as usize;
            items.truncate(limit as usize);
            let next = if more { items.last().map(name) } else { None };
            Ok(ManageablePage { items, next })
        })
    }
}

fn manageable(name: &str, size_gib: u64, managed_as: Option<String>) -> Manageable {
    Manageable {
        reference: vec![KeyValue::new("source-name", name)],
        size_gib,
        unsafe_because: managed_as.is_some().then(|| "managed already".to_owned()),
        managed_as,
        extra_info: None,
    }
}
