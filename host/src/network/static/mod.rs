//! The built-in plug-in: subnets of the configuration, addressed by the ids that clients pass as `neutron_net_id` and
//! `neutron_subnet_id`.
//!
//! A pool a subnet holds its free addresses as intervals, so that taking one and giving one back cost the same however many
//! there are. Whoever changes a pool holds its row; pools are taken in the order of their keys, so that two servers over the
//! same subnets cannot wait for each other. The intervals follow from the configured ranges and the allocations: when the
//! configuration says something else than a pool remembers, they are made again. A subnet that left the configuration gives
//! nothing, and what was given in it can still be given back. Until then no other subnet gives it: a subnet may only have got
//! another id.

mod adopt;
pub mod space;

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use futures::future::BoxFuture;
use ipnet::IpNet;
use uuid::Uuid;

use self::space::Space;
use super::{NetworkError, NetworkPlugin, Place, Reserved, Segment, SubnetIds, Want};
use crate::{
    clock,
    config::{Live, NetworkConfig, SubnetConfig},
    driver::types::IpVersion,
    store::{StoreError, StoreResult, Tx, sql::network_allocations::AllocationRow},
};

/// Of addresses that users do not reach.
const ADMIN_LABEL: &str = "admin";

/// The plug-in. It reads the configuration in force at each use.
#[derive(Debug, Clone)]
pub struct Static {
    config: Live,
}

impl Static {
    pub fn new(config: Live) -> Self {
        Self { config }
    }
}

impl NetworkPlugin for Static {
    fn segment(&self, place: &Place) -> Result<Segment, NetworkError> {
        Ok(segment(subnet(&self.config.get().network, place)?))
    }

    fn reserve<'a>(&'a self, tx: &'a mut Tx, server_id: &'a str, wants: &'a [Want]) -> BoxFuture<'a, Result<Vec<Reserved>, NetworkError>> {
        Box::pin(async move {
            let config = self.config.get();
            let mut ordered = Vec::with_capacity(wants.len());
            for (n, want) in wants.iter().enumerate() {
                ordered.push((subnet(&config.network, &want.place)?, n, want));
            }
            ordered.sort_by(|a, b| (&a.0.id, a.1).cmp(&(&b.0.id, b.1)));
            give_back_elsewhere(tx, &config.network, server_id, &ordered).await?;
            let mut found: BTreeMap<usize, Reserved> = BTreeMap::new();
            for (subnet, n, want) in ordered {
                let allocations = top_up(tx, &config.network, server_id, subnet, want).await?;
                found.insert(n, Reserved { segment: segment(subnet), allocations });
            }
            Ok(found.into_values().collect())
        })
    }

    fn adopt<'a>(
        &'a self,
        tx: &'a mut Tx,
        server_id: &'a str,
        places: &'a [Place],
        addresses: &'a [IpAddr],
    ) -> BoxFuture<'a, Result<Vec<Segment>, NetworkError>> {
        Box::pin(async move { adopt::adopt(tx, &self.config.get().network, server_id, places, addresses).await })
    }

    fn release<'a>(&'a self, tx: &'a mut Tx, allocations: &'a [AllocationRow]) -> BoxFuture<'a, Result<(), NetworkError>> {
        Box::pin(async move { Ok(give_back(tx, &self.config.get().network, allocations).await?) })
    }
}

/// The configured subnet that a place means.
fn subnet<'c>(config: &'c NetworkConfig, place: &Place) -> Result<&'c SubnetConfig, NetworkError> {
    let named = |id: &str| config.subnet(id).filter(|_| !id.is_empty());
    match place {
        Place::Admin => named(&config.admin_subnet).ok_or(NetworkError::NoAdminSubnet),
        Place::Subnet { ids: SubnetIds { neutron_net_id: Some(network_id), neutron_subnet_id: Some(subnet_id) }, .. } => {
            let unknown = || NetworkError::UnknownSubnet { network_id: network_id.clone(), subnet_id: subnet_id.clone() };
            named(subnet_id).filter(|s| s.network_id == *network_id).ok_or_else(unknown)
        }
        Place::Subnet { .. } => named(&config.default_subnet).ok_or(NetworkError::NoDefault),
    }
}

fn segment(subnet: &SubnetConfig) -> Segment {
    Segment {
        key: subnet.id.clone(),
        network_type: if subnet.vlan.is_some() { "vlan" } else { "flat" }.to_owned(),
        segmentation_id: subnet.vlan.map(u32::from),
        cidr: subnet.cidr.to_string(),
        gateway: subnet.gateway.map(|g| g.to_string()),
        mtu: subnet.mtu,
        ip_version: match subnet.cidr {
            IpNet::V4(_) => IpVersion::V4,
            IpNet::V6(_) => IpVersion::V6,
        },
    }
}

/// A subnet that a place meant before, when the server was tried to be built, has its addresses back: the server is told of one
/// subnet a place.
async fn give_back_elsewhere(
    tx: &mut Tx,
    config: &NetworkConfig,
    server_id: &str,
    wants: &[(&SubnetConfig, usize, &Want)],
) -> StoreResult<()> {
    let elsewhere = |a: &AllocationRow| wants.iter().any(|(subnet, _, want)| is_at(a, &want.place) && a.network_key != subnet.id);
    let mut stale = tx.network_allocations_of(server_id).await?;
    stale.retain(elsewhere);
    if stale.is_empty() {
        return Ok(());
    }
    // all of them in one order, those that are given from, too
    let mut keys: BTreeSet<&str> = stale.iter().map(|a| a.network_key.as_str()).collect();
    keys.extend(wants.iter().map(|(subnet, ..)| subnet.id.as_str()));
    keys.extend(stale.iter().flat_map(|a| others_that_cover(config, a)));
    for key in keys {
        tx.address_pool_locked(key).await?;
    }
    give_back(tx, config, &stale).await
}

fn is_at(allocation: &AllocationRow, place: &Place) -> bool {
    match place {
        Place::Subnet { id, .. } => allocation.subnet_id.as_deref() == Some(id),
        Place::Admin => allocation.subnet_id.is_none(),
    }
}

/// As many allocations as are wanted: those that are there, and new ones.
async fn top_up(
    tx: &mut Tx,
    config: &NetworkConfig,
    server_id: &str,
    subnet: &SubnetConfig,
    want: &Want,
) -> Result<Vec<AllocationRow>, NetworkError> {
    let (subnet_id, label) = match &want.place {
        Place::Subnet { id, .. } => (Some(id.as_str()), ""),
        Place::Admin => (None, ADMIN_LABEL),
    };
    let key = subnet.id.as_str();
    // held from here on: two that ask for the same server do not both find too few
    let mut next = open(tx, config, subnet).await?;
    let mut has = tx.network_allocations(server_id, subnet_id, key).await?;
    let missing = usize::try_from(want.count).unwrap_or(usize::MAX).saturating_sub(has.len());
    let space = Space::of(subnet);
    for _ in 0..missing {
        let exhausted = || NetworkError::Exhausted { subnet: key.to_owned(), cidr: subnet.cidr.to_string() };
        let position = take(tx, key, &mut next).await?.ok_or_else(exhausted)?;
        let address = space.address(position).ok_or_else(|| corrupt(key, position))?;
        let row = AllocationRow {
            id: Uuid::new_v4().to_string(),
            share_server_id: server_id.to_owned(),
            subnet_id: subnet_id.map(str::to_owned),
            network_key: key.to_owned(),
            ip_address: address.to_string(),
            mac_address: None,
            label: label.to_owned(),
            created_at: clock::now(),
        };
        tx.network_allocation_insert(&row).await?;
        has.push(row);
    }
    if missing > 0 {
        tx.address_pool_next(key, next).await?;
    }
    has.truncate(usize::try_from(want.count).unwrap_or(usize::MAX));
    Ok(has)
}

/// Holds the subnet's pool, and makes it again when the configuration changed; where to look for the next free address.
async fn open(tx: &mut Tx, config: &NetworkConfig, subnet: &SubnetConfig) -> StoreResult<i64> {
    let (key, space) = (subnet.id.as_str(), Space::of(subnet));
    let pool = tx.address_pool_locked(key).await?;
    if pool.ranges == space.text() {
        return Ok(pool.next_position);
    }
    let mut used = tx.network_addresses(key).await?;
    let elsewhere = tx.network_addresses_elsewhere(key).await?;
    used.extend(elsewhere.into_iter().filter(|(of, address)| is_stray(config, of, address)).map(|(_, address)| address));
    let used = used.iter().filter_map(|a| a.parse::<IpAddr>().ok());
    tx.address_pool_rewrite(key, &space.text(), &space.free(used)).await?;
    Ok(0)
}

/// The next free address after the one given last, which is not free any more. None: there is none.
async fn take(tx: &mut Tx, key: &str, next: &mut i64) -> StoreResult<Option<i64>> {
    let found = match tx.free_interval_from(key, *next).await? {
        Some(interval) => Some(interval),
        None => tx.free_interval_from(key, 0).await?,
    };
    let Some((first, last)) = found else { return Ok(None) };
    let at = if (first..=last).contains(next) { *next } else { first };
    tx.free_interval_remove(key, last).await?;
    for (first, last) in [(first, at - 1), (at + 1, last)] {
        if first <= last {
            tx.free_interval_insert(key, first, last).await?;
        }
    }
    *next = at + 1;
    Ok(Some(at))
}

async fn give_back(tx: &mut Tx, config: &NetworkConfig, allocations: &[AllocationRow]) -> StoreResult<()> {
    let mut by_key: BTreeMap<&str, Vec<&AllocationRow>> = BTreeMap::new();
    let mut kept_from: BTreeSet<&str> = BTreeSet::new();
    for a in allocations {
        by_key.entry(a.network_key.as_str()).or_default().push(a);
        kept_from.extend(others_that_cover(config, a));
    }
    for key in kept_from.iter().copied() {
        by_key.entry(key).or_default();
    }
    for (key, rows) in by_key {
        let space = Space::parse(&tx.address_pool_locked(key).await?.ranges);
        for row in rows {
            let gone = tx.network_allocation_remove(&row.id).await?;
            let position = || row.ip_address.parse().ok().and_then(|ip| space.as_ref()?.position(ip));
            // what is outside of the ranges was given when they were others
            if let Some(position) = gone.then(position).flatten().filter(|p| space.as_ref().is_some_and(|s| s.holds(*p))) {
                put(tx, key, position).await?;
            }
        }
        if kept_from.contains(key) {
            // made again at its next use, with what is free then
            tx.address_pool_rewrite(key, "", &[]).await?;
        }
    }
    Ok(())
}

/// An address that the subnet of its key does not have: that left the configuration, or means other addresses by now.
fn is_stray(config: &NetworkConfig, key: &str, address: &str) -> bool {
    let covers = |subnet: &SubnetConfig| address.parse::<IpAddr>().is_ok_and(|ip| subnet.cidr.contains(&ip));
    !config.subnet(key).is_some_and(covers)
}

/// The subnets that did not give this address because it was given under another id.
fn others_that_cover<'c>(config: &'c NetworkConfig, a: &AllocationRow) -> Vec<&'c str> {
    let Ok(ip) = a.ip_address.parse::<IpAddr>() else { return Vec::new() };
    if !is_stray(config, &a.network_key, &a.ip_address) {
        return Vec::new();
    }
    config.subnets.iter().filter(|s| s.id != a.network_key && s.cidr.contains(&ip)).map(|s| s.id.as_str()).collect()
}

/// A free address, and what it joins.
async fn put(tx: &mut Tx, key: &str, position: i64) -> StoreResult<()> {
    let (mut first, mut last) = (position, position);
    if let Some((begin, end)) = tx.free_interval_ending(key, position - 1).await? {
        tx.free_interval_remove(key, end).await?;
        first = begin;
    }
    if let Some((_, end)) = tx.free_interval_beginning(key, position + 1).await? {
        tx.free_interval_remove(key, end).await?;
        last = end;
    }
    tx.free_interval_insert(key, first, last).await
}

fn corrupt(key: &str, position: i64) -> StoreError {
    StoreError::Corrupt(format!("the pool {key} has a free position {position} that is no address"))
}
