//! Files that somebody put into a node's import folder, adopted as volumes and given back.
//!
//! A reference is `source-name`, the file's name; with several nodes it may name the `pool` too, since nothing else says which node is
//! meant when a size is asked for.

use stowage_driver_sdk::{prelude::*, serde_json::json};

use crate::{Linux, names, node::Node, wire};

const NAME: &str = "source-name";
const POOL: &str = "pool";
/// Of a file, on any Linux file system.
const LONGEST_NAME: usize = 255;
/// The node's largest page.
const LARGEST_PAGE: u32 = 1_000;

fn named(reference: &[KeyValue]) -> Result<&str> {
    KeyValue::find(reference, NAME).filter(|name| !name.is_empty()).ok_or_else(|| {
        DriverError::invalid(format!("the reference has no `{NAME}`: the name of a file in the node's import folder"))
            .for_user("The reference needs source-name, the name of a file that was put into the storage.")
    })
}

fn absent(name: &str, why: impl std::fmt::Display) -> DriverError {
    DriverError::invalid(format!("no import file {name:?}: {why}")).for_user("No such volume in the storage.")
}

/// None: the node has no such file.
fn file(node: &Node<'_>, name: &str) -> Result<Option<wire::ImportFile>> {
    match node.get::<wire::ImportFile>(&names::import(name)?) {
        Ok(file) if file.name != name => Err(wire::unusable(format!("it is about file {:?}, not {name:?}", file.name))),
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// The size to be adopted with.
fn usable(file: &wire::ImportFile) -> Result<u64> {
    if let Some(why) = &file.unsafe_because {
        return Err(DriverError::invalid(format!("import file {:?} cannot be adopted: {why}", file.name))
            .for_user("The volume in the storage is not in a state to be managed."));
    }
    if file.size_gib == 0 { Err(wire::unusable(format!("file {:?} has no size", file.name))) } else { Ok(file.size_gib) }
}

impl Linux {
    /// Looks on every node. A node that fails matters only if no other has the file.
    fn find(&self, cx: &Context, name: &str) -> Result<wire::ImportFile> {
        let (mut found, mut failure) = (Vec::new(), None);
        for place in &self.config.nodes {
            match file(&Node::new(cx, place), name) {
                Ok(Some(file)) => found.push((&place.pool, file)),
                Ok(None) => {}
                Err(e) => failure = Some(e),
            }
        }
        if found.len() > 1 {
            let pools: Vec<&str> = found.iter().map(|(pool, _)| pool.as_str()).collect();
            let why = format!("several pools have an import file {name:?} ({}): add `{POOL}` to the reference", pools.join(", "));
            return Err(DriverError::invalid(why).for_user("Several volumes in the storage have this name."));
        }
        match (found.pop(), failure) {
            (Some((_, file)), _) => Ok(file),
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(absent(name, "no node has it")),
        }
    }
}

impl VolumeManage for Linux {
    fn size_of(&self, cx: &Context, reference: &[KeyValue]) -> Result<u64> {
        let name = named(reference)?;
        let found = match KeyValue::find(reference, POOL) {
            Some(pool) => file(&self.node(cx, pool)?, name)?.ok_or_else(|| absent(name, format!("pool `{pool}` has none")))?,
            None => self.find(cx, name)?,
        };
        usable(&found)
    }

    fn adopt_volume(&self, cx: &Context, volume: &Volume, reference: &[KeyValue]) -> Result<Adopted> {
        let name = named(reference)?;
        if let Some(pool) = KeyValue::find(reference, POOL).filter(|pool| *pool != volume.pool) {
            return Err(DriverError::invalid(format!("the reference names pool `{pool}`, the volume shall be in `{}`", volume.pool))
                .for_user("The reference and the host name different storage pools."));
        }
        names::import(name)?;
        let layout = self.config.layout_of(&volume.specs)?;
        // Without a size: the file's own. A repeat finds the volume, although the file has been moved by then.
        let body = json!({ "layout": layout, "source": { "import": name } });
        let adopted: wire::Volume = match self.node(cx, &volume.pool)?.put(&names::volume(&volume.id)?, &body) {
            Err(e) if e.kind == ErrorKind::NotFound => return Err(absent(name, e.message)),
            other => other?,
        };
        let adopted = adopted.checked(&volume.id, 1)?;
        Ok(Adopted { size_gib: adopted.size_gib, update: VolumeUpdate::default() })
    }

    fn release_volume(&self, cx: &Context, volume: &Volume) -> Result<()> {
        let path = format!("{}/release", names::volume(&volume.id)?);
        match self.node(cx, &volume.pool)?.post::<serde_json::Map<String, serde_json::Value>>(&path, None) {
            Err(e) if e.kind == ErrorKind::NotFound => Ok(()),
            other => other.map(drop),
        }
    }

    fn list_manageable(&self, cx: &Context, pool: &str, after: Option<&str>, limit: u32) -> Result<ManageablePage> {
        let limit = limit.clamp(1, LARGEST_PAGE);
        let after = after.map(|name| format!("&after={}", names::encoded(name))).unwrap_or_default();
        let mut page: wire::ImportPage = self.node(cx, pool)?.get(&format!("/v1/import?limit={limit}{after}"))?;
        let odd = |name: &String| name.is_empty() || name.len() > LONGEST_NAME || name.contains('\0');
        if let Some(odd) = page.files.iter().map(|file| &file.name).chain(&page.next).find(|name| odd(name)) {
            return Err(wire::unusable(format!("{:?} is no file's name", names::shortened(odd, LONGEST_NAME))));
        }
        if page.files.len() > limit as usize {
            page.files.truncate(limit as usize);
            page.next = page.files.last().map(|file| file.name.clone());
        }
        let several = self.config.nodes.len() > 1;
        let items = page.files.into_iter().map(|file| {
            let mut reference = vec![KeyValue::new(NAME, file.name)];
            if several {
                reference.push(KeyValue::new(POOL, pool));
            }
            Manageable { reference, size_gib: file.size_gib, unsafe_because: file.unsafe_because, managed_as: None, extra_info: None }
        });
        Ok(ManageablePage { items: items.collect(), next: page.next })
    }
}
