//! More subnets for a live share server.
//!
//! What goes wrong here is told by `allocation_update_refusal` (a check that refuses, with a reason) and by `faults` on the
//! two verbs: `fail-after` has put the server on the subnet and leaves its details, `wrong-answer` names a share that is not
//! on the server.

use stowage_driver_sdk::{LiveServer, prelude::*};

use super::{ServerData, ShareData, servers::addresses};
use crate::{
    Memory,
    array::{Array, SERVERS, SHARE_SNAPSHOTS, SHARES},
};

impl Memory {
    /// What the host has to know after a server's networks changed: everything that is on it.
    pub fn network_update(&self, array: &dyn Array, id: &str) -> Result<NetworkUpdate> {
        let object = array.get(SERVERS, id)?.ok_or_else(|| DriverError::not_found(format!("the array has no share server {id}")))?;
        let data: ServerData = object.read()?;
        let mut update = NetworkUpdate { shares: Vec::new(), snapshots: Vec::new(), details: data.details(id) };
        for (share_id, object) in array.list(SHARES, "")? {
            let share: ShareData = object.read()?;
            if share.server.as_deref() != Some(id) {
                continue;
            }
            let locations = self.share_update(array, &share_id, &share)?.locations;
            update.shares.push(ShareChange { id: share_id.clone(), locations, pool: Some(object.pool) });
            for (snapshot, _) in array.list(SHARE_SNAPSHOTS, &format!("{share_id}."))? {
                let snapshot = snapshot[share_id.len() + 1..].to_owned();
                let locations = self.snapshot_locations(array, &share, &snapshot)?;
                update.snapshots.push(SnapshotChange { id: snapshot, provider_data: None, locations });
            }
        }
        Ok(update)
    }
}

impl Allocations for Memory {
    fn check_network_update(&self, cx: &Context, live: LiveServer<'_>, subnet: &Subnet, _: &[ShareRules]) -> Result<CheckOutcome> {
        self.verb(cx, &live.server.id, "", |_| {
            let features = &self.config.features;
            let id = &live.server.id;
            if self.array(cx).get(SERVERS, id)?.is_none() {
                return Err(DriverError::not_found(format!("the array has no share server {id}")));
            }
            Ok(match &self.config.check_refusal {
                Some(reason) => CheckOutcome::Refused(reason.clone()),
                None if !features.network_allocation_update_support => {
                    CheckOutcome::Refused("live share servers keep their networks here".into())
                }
                None if !features.ip_versions.contains(&subnet.ip_version) => {
                    CheckOutcome::Refused(format!("subnet {} is of an address family that is not served", subnet.id))
                }
                None => CheckOutcome::Ok,
            })
        })
    }

    fn update_network(&self, cx: &Context, live: LiveServer<'_>, added: &NetworkInfo) -> ServerResult<UpdateOutcome> {
        let id = &live.server.id;
        let updated = self.verb(cx, id, "", |plan| {
            self.complete(added)?;
            let array = self.array(cx);
            let server = array.change(SERVERS, id, None, &mut |object| {
                let mut data: ServerData = object.read()?;
                if data.subnets.iter().any(|(subnet, _)| *subnet == added.subnet.id) {
                    return Ok(false);
                }
                data.subnets.push(addresses(added));
                data.polls_left = plan.polls;
                object.write(&data)?;
                Ok(true)
            })?;
            let server = server.ok_or_else(|| DriverError::not_found(format!("the array has no share server {id}")))?;
            if server.read::<ServerData>()?.polls_left > 0 {
                return Ok(UpdateOutcome::Pending(Pending::new(format!("network/{id}"), 100)));
            }
            let mut update = self.network_update(&*array, id)?;
            // what is on the array beside it is being made or cleaned up
            update.shares.retain(|s| live.shares.iter().any(|known| known.id == s.id));
            update.snapshots.retain(|s| live.snapshots.iter().any(|known| known.id == s.id));
            if plan.lie {
                update.shares.push(ShareChange { id: "00000000-0000-4000-8000-0000000000ff".into(), locations: Vec::new(), pool: None });
            }
            Ok(UpdateOutcome::Done(update))
        });
        updated.map_err(|error: DriverError| match self.array(cx).get(SERVERS, id).map(|o| o.map(|o| o.read::<ServerData>())) {
            Ok(Some(Ok(data))) => error.leaving(data.details(id)),
            _ => error.into(),
        })
    }
}
