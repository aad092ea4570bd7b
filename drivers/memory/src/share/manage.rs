//! Shares that somebody else made: those of the option `foreign`, exported as `ADDRESS:/NAME`, and those that were released.

use stowage_driver_sdk::prelude::*;

use super::{ShareData, protocol_name};
use crate::{
    Memory,
    array::{FOREIGN, Object, SHARES},
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
                    if array.get(SHARES, name)?.is_some() {
                        return Err(DriverError::busy(format!("`{export_path}` is managed already")));
                    }
                    let mut data = ShareData {
                        content: format!("foreign {name}"),
                        polls_left: 0,
                        protocol: protocol_name(&share.protocol),
                        server: share.server.as_ref().map(|s| s.id.clone()),
                        adopted: Some(name.to_owned()),
                        used_gib: 0,
                    };
                    let object = match array.get(FOREIGN, name)? {
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
                    array.remove(FOREIGN, name)?;
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
