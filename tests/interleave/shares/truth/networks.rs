//! Every address is given once or free, and what hangs on networks hangs on something.

use std::collections::{BTreeMap, BTreeSet};

use super::{Scene, rows::Rows};
use crate::{
    database::Database,
    shares::{book::Book, world::ADMIN_SUBNET},
};

/// How many addresses the configured subnets have; the IPv6 one has more than anybody counts.
const SIZES: [(&str, i64); 4] = [("blue", 254), ("red", 254), ("tiny", 5), (ADMIN_SUBNET, 254)];

impl Scene {
    pub(super) fn addresses_are_given_once(&self, _: &Book, broken: &mut Vec<String>) {
        let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
        for f in &self.rows.free {
            *sums.entry(&f.key).or_default() += f.last - f.first + 1;
        }
        for (key, size) in SIZES {
            let given = self.rows.allocations.iter().filter(|a| a.key == key).count() as i64;
            // before its first use a subnet has no pool
            let Some(free) = sums.get(key).copied().or((given > 0).then_some(0)) else { continue };
            if free + given != size {
                broken.push(format!("[lost-address] of {size} addresses of {key} {given} are given and {free} are free"));
            }
        }
        let servers: BTreeSet<&str> = self.rows.servers.iter().map(|s| s.id.as_str()).collect();
        for a in self.rows.allocations.iter().filter(|a| !servers.contains(a.server.as_str())) {
            broken.push(format!("[address-left] {} is given to server {}, which is not there", a.address, a.server));
        }
        let used: BTreeSet<&str> = self.rows.servers.iter().map(|s| s.network.as_str()).collect();
        for n in self.rows.networks.iter().filter(|n| n.hidden && !used.contains(n.id.as_str())) {
            broken.push(format!("[network-left] network {} was deleted, has no server, and is there", n.id));
        }
    }
}

/// When nothing is given, the free addresses of each subnet are one interval.
pub async fn free_of_gaps(database: &Database) -> Vec<String> {
    let mut intervals: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for f in Rows::read(database).await.free {
        intervals.entry(f.key).or_default().push((f.first, f.last));
    }
    let gaps = intervals.into_iter().filter(|(_, free)| free.len() != 1);
    gaps.map(|(key, free)| format!("[lost-address] nothing of {key} is given, and {free:?} are free")).collect()
}
