//! Rules of `[network]`.

use std::net::IpAddr;

use super::{
    Check,
    Step::{Index, Key},
};
use crate::{
    config::{NetworkConfig, SubnetConfig},
    network::r#static::space::Space,
};

/// Longest id of a network or subnet that an API takes.
const MAX_ID: usize = 36;

impl Check<'_> {
    pub(super) fn network(&mut self, network: &NetworkConfig) {
        for (key, id) in [("default_subnet", &network.default_subnet), ("admin_subnet", &network.admin_subnet)] {
            if !id.is_empty() && network.subnet(id).is_none() {
                self.refuse(
                    &[Key("network"), Key(key)],
                    format!("there is no [[network.subnet]] with the id {id:?}"),
                    "write the id of a configured subnet, or \"\"",
                );
            }
        }
        for (n, subnet) in network.subnets.iter().enumerate() {
            self.subnet(n, subnet, &network.subnets[..n]);
        }
    }

    fn subnet(&mut self, n: usize, subnet: &SubnetConfig, before: &[SubnetConfig]) {
        let at = |key| [Key("network"), Key("subnet"), Index(n), Key(key)];
        for (key, id) in [("id", &subnet.id), ("network_id", &subnet.network_id)] {
            if id.is_empty() || id.chars().count() > MAX_ID {
                self.refuse(&at(key), format!("{id:?} cannot be passed by a client"), "use 1 to 36 characters, such as a UUID");
            }
        }
        if before.iter().any(|other| other.id == subnet.id) {
            self.refuse(&at("id"), format!("there are two subnets {:?}", subnet.id), "give each an id of its own");
        }
        let cidr = subnet.cidr;
        if cidr.addr() != cidr.network() {
            self.refuse(&at("cidr"), format!("{cidr} is an address in a subnet, no subnet"), format!("write {}", cidr.trunc()));
        }
        let overlaps = |other: &&SubnetConfig| other.vlan == subnet.vlan && (other.cidr.contains(&cidr) || cidr.contains(&other.cidr));
        if let Some(other) = before.iter().find(overlaps) {
            self.refuse(
                &at("cidr"),
                format!("{cidr} overlaps {} of the subnet {:?} on the same wire, so an address could be given twice", other.cidr, other.id),
                "make one subnet of the two, or give them different VLANs",
            );
        }
        if let Some(gateway) = subnet.gateway.filter(|g| !cidr.contains(g)) {
            self.refuse(
                &at("gateway"),
                format!("the gateway {gateway} is not in {cidr}"),
                "write an address of the subnet, or leave it out",
            );
        }
        self.ranges_of(n, subnet);
        if let Some(vlan) = subnet.vlan.filter(|v| !(1..=4094).contains(v)) {
            self.refuse(&at("vlan"), format!("{vlan} is no VLAN"), "use 1 to 4094, or leave it out");
        }
        if let Some(mtu) = subnet.mtu {
            self.number(&at("mtu"), u64::from(mtu), 68, 65_535);
        }
    }

    fn ranges_of(&mut self, n: usize, subnet: &SubnetConfig) {
        let key = [Key("network"), Key("subnet"), Index(n), Key("ranges")];
        let at = |i| [key[0], key[1], key[2], key[3], Index(i)];
        let found = self.findings.len();
        for (i, range) in subnet.ranges.iter().enumerate() {
            let inside = |ip: &IpAddr| subnet.cidr.contains(ip);
            if !inside(&range.first) || !inside(&range.last) || range.first > range.last {
                let remedy = format!("write the first and the last address of a part of {}", subnet.cidr);
                self.refuse(&at(i), format!("{range} is no part of {}", subnet.cidr), remedy);
            } else if subnet.ranges[..i].iter().any(|other| other.first <= range.last && range.first <= other.last) {
                self.refuse(&at(i), format!("{range} overlaps another range"), "let each address stand in one range");
            }
        }
        if self.findings.len() == found && Space::of(subnet).is_empty() {
            self.refuse(
                &key,
                format!("no address of {} may be given to a server", subnet.cidr),
                "name a range of it, or use a larger subnet",
            );
        }
    }
}
