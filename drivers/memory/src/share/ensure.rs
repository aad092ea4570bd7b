//! Checking shares against the array: locations follow the configuration, what the array lost is broken.

use stowage_driver_sdk::prelude::*;

use super::gone;
use crate::Memory;

fn same(a: &[ExportLocation], b: &[ExportLocation]) -> bool {
    a.len() == b.len() && a.iter().all(|l| b.iter().any(|m| m.path == l.path && m.admin_only == l.admin_only && m.preferred == l.preferred))
}

/// How this driver makes export locations. Another release that makes them in another way has another word here, and when it
/// takes over, the shares of the one before are ensured.
const LAYOUT: &str = "export-layout-1";

/// How the answer about one share goes wrong.
#[derive(Default)]
struct Slip {
    wrong_id: bool,
    leave_out: bool,
}

impl Ensure for Memory {
    fn fingerprint(&self, cx: &Context) -> Result<String> {
        self.verb(cx, "", "", |_| {
            let admin = self.config.admin_address.as_deref().unwrap_or_default();
            let addresses = self.config.addresses.join(" ");
            Ok(format!("{LAYOUT} addresses {addresses} admin {admin} array {}", self.config.array_url.is_some()))
        })
    }

    fn ensure_share(&self, cx: &Context, item: &EnsureItem) -> Result<EnsureOutcome> {
        self.look(cx, item, &mut Slip::default())
    }

    fn ensure_shares(&self, cx: &Context, items: &[EnsureItem]) -> Result<Vec<Ensured>> {
        let mut answers = Vec::with_capacity(items.len());
        for item in items {
            let mut slip = Slip::default();
            let outcome = self.look(cx, item, &mut slip).unwrap_or_else(EnsureOutcome::Failed);
            let id = if slip.wrong_id { format!("not-{}", item.share.id) } else { item.share.id.clone() };
            if !slip.leave_out {
                answers.push(Ensured { id, outcome });
            }
        }
        Ok(answers)
    }
}

impl Memory {
    fn look(&self, cx: &Context, item: &EnsureItem, slip: &mut Slip) -> Result<EnsureOutcome> {
        let share = &item.share;
        self.verb(cx, &share.id, &share.name, |plan| {
            *slip = Slip { wrong_id: plan.wrong_id, leave_out: plan.leave_out };
            let array = self.array(cx);
            let (object, data) = match self.share(&*array, &share.id) {
                Err(lost) if lost.kind == ErrorKind::NotFound => {
                    return Ok(EnsureOutcome::Updated(EnsuredUpdate { broken_because: Some(gone(&share.id)), ..EnsuredUpdate::default() }));
                }
                found => found?,
            };
            let now = self.share_update(&*array, &share.id, &data)?;
            let mut update = EnsuredUpdate::default();
            if plan.lie {
                update.locations = Some(vec![ExportLocation::new(""), ExportLocation::new("")]);
                return Ok(EnsureOutcome::Updated(update));
            }
            if !same(&now.locations, &share.locations) {
                update.locations = Some(now.locations);
                update.reapply_access_rules = true;
            }
            for snapshot in &item.snapshots {
                let locations = self.snapshot_locations(&*array, &data, &snapshot.id)?;
                if !same(&locations, &snapshot.locations) {
                    update.snapshots.push(SnapshotLocations { id: snapshot.id.clone(), locations });
                }
            }
            if object.pool != share.pool {
                update.pool = Some(object.pool);
            }
            if update == EnsuredUpdate::default() { Ok(EnsureOutcome::Unchanged) } else { Ok(EnsureOutcome::Updated(update)) }
        })
    }
}
