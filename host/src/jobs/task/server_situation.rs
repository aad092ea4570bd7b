//! A share server with all that lives on it, as its driver is told of it: the one place where that is put together.

use std::collections::{BTreeMap, HashMap};

use super::{share_access, share_server_support, share_support};
use crate::{
    domain::share_access::AccessState,
    driver::types::{self, ExportLocation, NetworkInfo, ServerSituation, ShareServer, ShareSnapshot, StringMap},
    jobs::JobContext,
    store::{
        StoreResult,
        sql::{metadata::MetadataOf, share_access::AccessFilter, share_servers::ShareServerRow, shares::ShareRow},
    },
};

/// A server on the subnets that its driver has given it, with what is on it now; and the subnets that it was promised.
pub async fn situation(cx: &JobContext, row: &ShareServerRow) -> StoreResult<(ServerSituation, Vec<NetworkInfo>)> {
    let store = &cx.app.store;
    let server = share_server_support::driver_server(row)?;
    let promised = store.promised_subnets(&row.id).await?;
    let networks = share_server_support::networks(cx, row).await?;
    let (promised, current) = networks.into_iter().partition(|n| promised.contains(&n.subnet.id));
    let rows = store.shares_on_server(&row.id).await?;
    let mut rules = BTreeMap::new();
    for share in &rows {
        rules.insert(share.instance_id.clone(), holding(cx, share).await?);
    }
    let shares = share_support::driver_shares(cx, &rows).await?;
    let snapshots = snapshots(cx, &server).await?;
    Ok((ServerSituation { server, current, shares, snapshots, rules }, promised))
}

/// The rules of a share that hold.
async fn holding(cx: &JobContext, share: &ShareRow) -> StoreResult<Vec<types::AccessRule>> {
    let rules = cx.app.store.share_rules(&share.id, &AccessFilter::default()).await?;
    let active = rules.iter().filter(|r| r.state() == Some(AccessState::Active));
    Ok(active.filter_map(|r| share_access::told(r, share.cast_rules_to_readonly)).collect())
}

async fn snapshots(cx: &JobContext, server: &ShareServer) -> StoreResult<Vec<ShareSnapshot>> {
    let store = &cx.app.store;
    let rows = store.snapshots_on_server(&server.id).await?;
    let mut pairs = store.metadata_of_all(MetadataOf::ShareSnapshot, rows.iter().map(|r| r.id.as_str())).await?;
    let mut locations: HashMap<String, Vec<ExportLocation>> = HashMap::new();
    for l in store.snapshot_locations_on_server(&server.id).await? {
        let told = ExportLocation { path: l.path, admin_only: l.admin_only, preferred: false, metadata: StringMap::new() };
        locations.entry(l.snapshot_instance_id).or_default().push(told);
    }
    Ok(rows
        .into_iter()
        .map(|row| ShareSnapshot {
            locations: locations.remove(&row.instance_id).unwrap_or_default(),
            metadata: pairs.remove(&row.id).unwrap_or_default().into_iter().collect(),
            id: row.instance_id,
            name: row.name.unwrap_or_default(),
            project_id: row.project_id,
            share_id: row.share_instance_id,
            size_gib: u64::try_from(row.size_gib).unwrap_or(0),
            provider_id: row.provider_id,
            provider_data: row.provider_data,
            server: Some(server.clone()),
        })
        .collect())
}
