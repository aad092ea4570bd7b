//! Share servers over one or several subnets, and more subnets for a live one.

use stowage_driver_sdk::{LiveServer, prelude::*};

use super::{ServerData, ShareData};
use crate::{
    Memory,
    array::{Array, Created, Object, SERVERS, SHARE_SNAPSHOTS, SHARES},
};

fn addresses(network: &NetworkInfo) -> (String, Vec<String>) {
    (network.subnet.id.clone(), network.allocations.iter().map(|a| a.ip_address.clone()).collect())
}

/// What a server knows of a security service; never its password.
fn service(s: &SecurityService) -> String {
    let kind = match s.kind {
        SecurityServiceKind::Ldap => "ldap",
        SecurityServiceKind::Kerberos => "kerberos",
        SecurityServiceKind::ActiveDirectory => "active_directory",
    };
    format!("{kind} {} {}", s.id, s.domain.as_deref().unwrap_or_default()).trim_end().to_owned()
}

impl Memory {
    /// Every subnet must have come with as many addresses as were asked for.
    fn complete(&self, network: &NetworkInfo) -> Result<()> {
        let wanted = self.config.address_counts.per_subnet as usize;
        if network.allocations.len() == wanted {
            return Ok(());
        }
        let (subnet, given) = (&network.subnet.id, network.allocations.len());
        Err(DriverError::invalid(format!("subnet {subnet} came with {given} addresses instead of {wanted}")))
    }

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
            update.shares.push(ShareChange { id: share_id.clone(), locations, pool: None });
            for (snapshot, _) in array.list(SHARE_SNAPSHOTS, &format!("{share_id}."))? {
                let snapshot = snapshot[share_id.len() + 1..].to_owned();
                let locations = self.snapshot_locations(array, &share, &snapshot)?;
                update.snapshots.push(SnapshotChange { id: snapshot, provider_data: None, locations });
            }
        }
        Ok(update)
    }
}

impl ShareServers for Memory {
    fn allocations_wanted(&self, cx: &Context) -> Result<AddressCounts> {
        self.verb(cx, "", "", |_| Ok(self.config.address_counts))
    }

    fn set_up_server(&self, cx: &Context, server_id: &str, networks: &[NetworkInfo], _: &[KeyValue]) -> ServerResult<ServerOutcome> {
        let data = ServerData {
            subnets: networks.iter().map(addresses).collect(),
            // the same with each subnet
            admin: networks.first().into_iter().flat_map(|n| &n.admin_allocations).map(|a| a.ip_address.clone()).collect(),
            security_services: networks.first().into_iter().flat_map(|n| &n.security_services).map(service).collect(),
            polls_left: 0,
        };
        let set_up = self.verb(cx, server_id, "", |plan| {
            if networks.len() > 1 && !self.config.features.share_server_multiple_subnet_support {
                return Err(DriverError::unsupported("share servers have one subnet here"));
            }
            networks.iter().try_for_each(|n| self.complete(n))?;
            let array = self.array(cx);
            let made = ServerData { polls_left: plan.polls, ..data.clone() };
            let made = match array.create(SERVERS, server_id, &Object::new("", 0, &made)?, None)? {
                Created::New => made,
                Created::There(there) => there.read()?,
            };
            if made.polls_left > 0 {
                return Ok(ServerOutcome::Pending(Pending::new(format!("server/{server_id}"), 100)));
            }
            Ok(ServerOutcome::Done(made.details(server_id)))
        });
        // Whoever cleans up or tries again finds what was made, if it was.
        set_up.map_err(|error: DriverError| match self.array(cx).get(SERVERS, server_id) {
            Ok(Some(_)) => error.leaving(data.details(server_id)),
            _ => error.into(),
        })
    }

    fn tear_down_server(&self, cx: &Context, server_id: &str, _: Option<&ServerDetails>, _: &[SecurityService]) -> Result<()> {
        self.verb(cx, server_id, "", |_| {
            let array = self.array(cx);
            for (share, object) in array.list(SHARES, "")? {
                if object.read::<ShareData>()?.server.as_deref() == Some(server_id) {
                    return Err(DriverError::busy(format!("share {share} is on the server")));
                }
            }
            array.remove(SERVERS, server_id).map(drop)
        })
    }
}

impl Allocations for Memory {
    fn check_network_update(&self, cx: &Context, live: LiveServer<'_>, subnet: &Subnet, _: &[ShareRules]) -> Result<CheckOutcome> {
        self.verb(cx, &live.server.id, "", |_| {
            let features = &self.config.features;
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
