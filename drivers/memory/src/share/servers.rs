//! Share servers over one or several subnets.

use stowage_driver_sdk::prelude::*;

use super::{ServerData, ShareData, server_migration::forget};
use crate::{
    Memory,
    array::{Created, Object, SERVERS, SHARES},
};

pub fn addresses(network: &NetworkInfo) -> (String, Vec<String>) {
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
    pub fn complete(&self, network: &NetworkInfo) -> Result<()> {
        let wanted = self.config.address_counts.per_subnet as usize;
        if network.allocations.len() == wanted {
            return Ok(());
        }
        let (subnet, given) = (&network.subnet.id, network.allocations.len());
        Err(DriverError::invalid(format!("subnet {subnet} came with {given} addresses instead of {wanted}")))
    }
}

impl ShareServers for Memory {
    fn allocations_wanted(&self, cx: &Context) -> Result<AddressCounts> {
        self.verb(cx, "", "", |plan| {
            Ok(if plan.lie { AddressCounts { per_subnet: u32::MAX, admin: 0 } } else { self.config.address_counts })
        })
    }

    fn set_up_server(&self, cx: &Context, server_id: &str, networks: &[NetworkInfo], _: &[KeyValue]) -> ServerResult<ServerOutcome> {
        let data = ServerData {
            subnets: networks.iter().map(addresses).collect(),
            // the same with each subnet
            admin: networks.first().into_iter().flat_map(|n| &n.admin_allocations).map(|a| a.ip_address.clone()).collect(),
            security_services: networks.first().into_iter().flat_map(|n| &n.security_services).map(service).collect(),
            polls_left: 0,
            name: None,
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
            forget(&*array, server_id)?;
            array.remove(SERVERS, server_id).map(drop)
        })
    }
}
