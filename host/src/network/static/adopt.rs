//! Addresses that a server has already: it was made by somebody else, and is taken over.
//!
//! They are written down as those that are given, also where they lie outside of a subnet's ranges: nobody else gets them from
//! here on. What another server has, or what lies in none of the subnets, is refused, and nothing is written.

use std::{collections::BTreeSet, net::IpAddr};

use uuid::Uuid;

use super::{ADMIN_LABEL, give_back, open, others_that_cover, segment, space::Space, subnet};
use crate::{
    clock,
    config::{NetworkConfig, SubnetConfig},
    network::{NetworkError, Place, Segment},
    store::{StoreError, StoreResult, Tx, sql::network_allocations::AllocationRow},
};

pub(super) async fn adopt(
    tx: &mut Tx,
    config: &NetworkConfig,
    server_id: &str,
    places: &[Place],
    addresses: &[IpAddr],
) -> Result<Vec<Segment>, NetworkError> {
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        found.push((place, subnet(config, place)?));
    }
    let rows = rows(&found, server_id, addresses)?;
    let has = tx.network_allocations_of(server_id).await?;
    let same = |a: &AllocationRow, b: &AllocationRow| {
        (&a.network_key, &a.ip_address, &a.subnet_id) == (&b.network_key, &b.ip_address, &b.subnet_id)
    };
    let stale: Vec<AllocationRow> = has.iter().filter(|a| !rows.iter().any(|r| same(r, a))).cloned().collect();
    // all pools in one order, as everybody holds them
    let mut keys: BTreeSet<&str> = found.iter().map(|(_, s)| s.id.as_str()).collect();
    keys.extend(stale.iter().map(|a| a.network_key.as_str()));
    keys.extend(stale.iter().flat_map(|a| others_that_cover(config, a)));
    for key in keys {
        tx.address_pool_locked(key).await?;
    }
    give_back(tx, config, &stale).await?;
    for row in rows.iter().filter(|r| !has.iter().any(|a| same(r, a))) {
        let Some(subnet) = config.subnet(&row.network_key) else { continue };
        write_down(tx, config, subnet, row).await?;
    }
    Ok(found.iter().map(|(_, s)| segment(s)).collect())
}

/// Each address in the first place that covers it.
fn rows(places: &[(&Place, &SubnetConfig)], server_id: &str, addresses: &[IpAddr]) -> Result<Vec<AllocationRow>, NetworkError> {
    let mut rows = Vec::with_capacity(addresses.len());
    for address in addresses {
        let Some((place, subnet)) = places.iter().find(|(_, s)| s.cidr.contains(address) && s.gateway != Some(*address)) else {
            let subnets: Vec<String> = places.iter().map(|(_, s)| format!("{} {}", s.id, s.cidr)).collect();
            return Err(NetworkError::Elsewhere { address: address.to_string(), subnets: subnets.join(", ") });
        };
        let (subnet_id, label) = match place {
            Place::Subnet { id, .. } => (Some(id.clone()), ""),
            Place::Admin => (None, ADMIN_LABEL),
        };
        rows.push(AllocationRow {
            id: Uuid::new_v4().to_string(),
            share_server_id: server_id.to_owned(),
            subnet_id,
            network_key: subnet.id.clone(),
            ip_address: address.to_string(),
            mac_address: None,
            label: label.to_owned(),
            created_at: clock::now(),
        });
    }
    Ok(rows)
}

/// Takes the address out of the pool, whose row the caller holds.
async fn write_down(tx: &mut Tx, config: &NetworkConfig, subnet: &SubnetConfig, row: &AllocationRow) -> Result<(), NetworkError> {
    let taken = || NetworkError::Taken { address: row.ip_address.clone(), subnet: subnet.id.clone() };
    open(tx, config, subnet).await?;
    let space = Space::of(subnet);
    let position = row.ip_address.parse().ok().and_then(|ip| space.position(ip)).filter(|p| space.holds(*p));
    if let Some(position) = position
        && !take_this(tx, &row.network_key, position).await?
    {
        // given under another id of the same subnet
        return Err(taken());
    }
    match tx.network_allocation_insert(row).await {
        Err(StoreError::Duplicate { .. }) => Err(taken()),
        other => Ok(other?),
    }
}

/// False: it is not free.
async fn take_this(tx: &mut Tx, key: &str, position: i64) -> StoreResult<bool> {
    let found = tx.free_interval_from(key, position).await?;
    let Some((first, last)) = found.filter(|(first, last)| (*first..=*last).contains(&position)) else { return Ok(false) };
    tx.free_interval_remove(key, last).await?;
    for (first, last) in [(first, position - 1), (position + 1, last)] {
        if first <= last {
            tx.free_interval_insert(key, first, last).await?;
        }
    }
    Ok(true)
}
