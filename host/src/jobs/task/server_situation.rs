//! A share server with all that lives on it, as its driver is told of it: the one place where that is put together.

use std::collections::{BTreeMap, HashMap};

use super::{share_access, share_server_support, share_snapshot_support::driver_snapshots, share_support};
use crate::{
    domain::share_access::AccessState,
    driver::types::{self, NetworkInfo, ServerSituation},
    jobs::JobContext,
    store::{
        StoreResult,
        sql::{share_access::AccessRow, share_servers::ShareServerRow, shares::ShareRow},
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
    let rules = holding(cx, row, &rows).await?;
    let shares = share_support::driver_shares(cx, &rows).await?;
    let snapshots = driver_snapshots(cx, &store.snapshots_on_server(&row.id).await?).await?;
    Ok((ServerSituation { server, current, shares, snapshots, rules }, promised))
}

/// By instance, the rules of these shares of a server that hold.
async fn holding(cx: &JobContext, server: &ShareServerRow, shares: &[ShareRow]) -> StoreResult<BTreeMap<String, Vec<types::AccessRule>>> {
    let mut of_share: HashMap<String, Vec<AccessRow>> = HashMap::new();
    for rule in cx.app.store.rules_on_server(&server.id).await? {
        if rule.state() == Some(AccessState::Active) {
            of_share.entry(rule.share_id.clone()).or_default().push(rule);
        }
    }
    let told = |share: &ShareRow| {
        let rules = of_share.remove(&share.id).unwrap_or_default();
        let rules = rules.iter().filter_map(|r| share_access::told(r, share.cast_rules_to_readonly)).collect();
        (share.instance_id.clone(), rules)
    };
    Ok(shares.iter().map(told).collect())
}
