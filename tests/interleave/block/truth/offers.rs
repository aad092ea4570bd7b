//! Offers: a volume is offered exactly while there is a transfer of it, by its owner.

use super::{Scene, id, status};
use crate::block::{book::Book, world::World};
use crate::figures::pairs;

const TRANSFERS: &str = "SELECT volume_id || '|' || project_id FROM transfers ORDER BY volume_id";

impl Scene {
    pub(super) async fn offers(&self, world: &World, book: &Book, broken: &mut Vec<String>) {
        let rows = world.database.texts(TRANSFERS).await;
        let offered = pairs(rows.clone());
        if offered.len() != rows.len() {
            broken.push(format!("[odd-transfer] one volume is offered twice: {rows:?}"));
        }
        for v in &self.volumes {
            let owner = v["os-vol-tenant-attr:tenant_id"].as_str().unwrap_or_default();
            let is_offered = status(v) == "awaiting-transfer";
            match offered.get(id(v)) {
                // an operator may have said that it is something else
                _ if book.was_told(id(v)) => {}
                Some(by) if is_offered && by == owner => {}
                None if !is_offered => {}
                by => broken.push(format!("[odd-transfer] {} of {owner} is {}, it is offered by {by:?}", id(v), status(v))),
            }
        }
        for volume in offered.keys().filter(|volume| self.volume(volume).is_none()) {
            broken.push(format!("[odd-transfer] {volume} is offered, and is not there"));
        }
    }
}
