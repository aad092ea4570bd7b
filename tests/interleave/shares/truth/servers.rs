//! The share servers of the arrays are the rows, with the addresses that the rows give them; and a server that could not be
//! built has nothing at all.

use std::collections::{BTreeMap, BTreeSet};

use super::{Scene, field, rows::Server};
use crate::shares::world::{ADDRESSES, BACKENDS};

impl Scene {
    pub(super) fn servers_are_held(&self, broken: &mut Vec<String>) {
        for server in &self.rows.servers {
            for (array, backend) in BACKENDS.iter().enumerate() {
                let held = self.held(array, "servers").get(&server.id);
                let here = server.backend == *backend;
                match (server.status.as_str(), held) {
                    (_, Some(_)) if !here => {
                        broken.push(format!("[orphan-object] server {} is on {}, and {backend} holds it", server.id, server.backend));
                    }
                    ("error", Some(_)) if server.never_was => {
                        broken.push(format!("[orphan-object] server {} was never built, and {backend} holds it", server.id));
                    }
                    ("active", None) if here => {
                        broken.push(format!("[lost-object] server {} is active, and {backend} does not hold it", server.id));
                    }
                    ("active", Some(object)) => {
                        self.on_its_subnets(server, &field::<Vec<_>>(object, "subnets"), &field::<Vec<_>>(object, "admin"), broken)
                    }
                    _ => {}
                }
            }
            self.has_its_addresses(server, broken);
            self.knows_its_shares(server, broken);
        }
        let known: BTreeSet<&str> = self.rows.servers.iter().map(|s| s.id.as_str()).collect();
        for (array, backend) in BACKENDS.iter().enumerate() {
            for id in self.held(array, "servers").keys().filter(|id| !known.contains(id.as_str())) {
                broken.push(format!("[orphan-object] {backend} holds server {id}, which has no row"));
            }
        }
    }

    /// By subnet; the operator's own is the empty word.
    fn addresses(&self, server: &str) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for a in self.rows.allocations.iter().filter(|a| a.server == server) {
            all.entry(&a.subnet).or_default().insert(&a.address);
        }
        all
    }

    /// The array has exactly the addresses that the rows give.
    fn on_its_subnets(&self, server: &Server, subnets: &[(String, Vec<String>)], admin: &[String], broken: &mut Vec<String>) {
        let mut held: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (subnet, addresses) in subnets {
            held.entry(subnet).or_default().extend(addresses.iter().map(String::as_str));
        }
        held.entry("").or_default().extend(admin.iter().map(String::as_str));
        let given = self.addresses(&server.id);
        if held != given {
            broken.push(format!("[wrong-addresses] server {} was given {given:?}, the array has {held:?}", server.id));
        }
    }

    /// As many as there should be in each of its subnets, or none at all.
    fn has_its_addresses(&self, server: &Server, broken: &mut Vec<String>) {
        let given = self.addresses(&server.id);
        if server.status == "error" && server.never_was && !given.is_empty() {
            broken.push(format!("[address-left] server {} was never built, and has {given:?}", server.id));
        }
        if server.never_was {
            return;
        }
        let on = self.rows.memberships.iter().filter(|m| m.server == server.id);
        if server.status == "active" {
            for m in on.clone().filter(|m| !m.applied) {
                broken.push(format!("[in-motion] server {} is active and waits for subnet {}", server.id, m.subnet));
            }
        }
        let wanted: BTreeMap<&str, usize> = on.map(|m| (m.subnet.as_str(), ADDRESSES)).chain([("", 1)]).collect();
        let counts: BTreeMap<&str, usize> = given.iter().map(|(subnet, addresses)| (*subnet, addresses.len())).collect();
        // one whose teardown failed has what it had, until it is deleted again
        if counts != wanted {
            broken.push(format!("[wrong-addresses] server {} ({}) should have {wanted:?}, and has {given:?}", server.id, server.status));
        }
    }

    /// A server is idle exactly while no share is on it: or it would never be swept away, or too soon.
    fn knows_its_shares(&self, server: &Server, broken: &mut Vec<String>) {
        let shares: Vec<&str> =
            self.rows.shares.iter().filter(|s| s.server.as_deref() == Some(server.id.as_str())).map(|s| s.id.as_str()).collect();
        if server.idle != shares.is_empty() {
            let idle = if server.idle { "idle" } else { "not idle" };
            broken.push(format!("[wrong-idle] server {} ({}) is said to be {idle}, on it are {shares:?}", server.id, server.status));
        }
    }
}
