//! Room for what a share server carries with it, in the pools of its destination.
//!
//! Each share is placed as if it were made there, under a name of its own ([`stand_in`]), so that it counts in both places until
//! the migration has ended; then it takes over the stand-in's place, or the stand-in gives it back. Which pool a share really
//! goes to the driver decides: it counts there from then on.

use std::collections::HashMap;

use super::{ask::Asked, rest::AtRest};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    scheduler::{self, Operation, PlacementRequest},
    service::share::{self, network::reach},
    store::{Tx, sql::shares::ShareRow},
};

/// The name under which a share counts where its server is going.
pub fn stand_in(share_id: &str) -> String {
    format!("{share_id}/migrating")
}

/// The same, of its snapshots.
pub fn stand_in_of_snapshots(share_id: &str) -> String {
    format!("{share_id}/migrating/snapshots")
}

/// What each share on the server asks of a pool, read before the transaction that takes it begins.
pub async fn requests(app: &App, ctx: &RequestContext, asked: &Asked) -> Result<HashMap<String, PlacementRequest>> {
    let network = reach(app, &asked.network.id).await?;
    let mut requests = HashMap::new();
    for share in app.store.shares_on_server(&asked.source.id).await? {
        let mut request = share::room::request(app, &share, Operation::Create, share.size_gib, &ctx.request_id).await?;
        request.resource_id = stand_in(&share.id);
        request.explained_as = Some(share.id.clone());
        request.only_backend = Some(asked.backend.host.clone());
        request.share.network = Some(network.clone());
        // it is copied, not made of anything
        request.share.from_snapshot = false;
        requests.insert(share.id, request);
    }
    Ok(requests)
}

/// Takes it all. None: it is taken; else why not, and what was taken goes with the transaction.
///
/// # Errors
/// 409 when another share has come to the server, 503 right after a start.
pub async fn take(
    app: &App,
    tx: &mut Tx,
    asked: &Asked,
    at_rest: &AtRest,
    mut requests: HashMap<String, PlacementRequest>,
) -> Result<Option<String>> {
    tx.hold_pools_of_backends([&asked.source.backend, &asked.backend.host]).await?;
    let snapshots: HashMap<&str, i64> = at_rest.snapshots.iter().map(|(share, gib)| (share.as_str(), *gib)).collect();
    for share in &at_rest.shares {
        let Some(mut request) = requests.remove(&share.id) else { return Err(changed(&asked.source.id)) };
        request.size_gib = share.size_gib;
        let pool = match place(app, tx, share, &request).await? {
            Ok(pool) => pool,
            Err(why) => return Ok(Some(why)),
        };
        if let Some(gib) = snapshots.get(share.id.as_str()) {
            let beside = PlacementRequest {
                resource_id: stand_in_of_snapshots(&share.id),
                size_gib: *gib,
                only_pool: Some(pool),
                operation: Operation::Snapshot,
                ..request
            };
            if let Err(why) = place(app, tx, share, &beside).await? {
                return Ok(Some(why));
            }
        }
    }
    Ok(None)
}

async fn place(app: &App, tx: &mut Tx, share: &ShareRow, request: &PlacementRequest) -> Result<std::result::Result<String, String>> {
    match scheduler::place(tx, request).await? {
        Ok(placed) => Ok(Ok(placed.host)),
        Err(none) if none.worth_waiting() && share::room::just_started(app) => {
            Err(Error::new(crate::error::Kind::Unavailable, "The destination has not reported yet after a start; try again in a moment."))
        }
        Err(none) => {
            let of = request.only_backend.as_deref().unwrap_or_default();
            Ok(Err(format!("Share {} fits in no pool of {of}: {}", share.id, none.limit.user_text())))
        }
    }
}

pub fn changed(server_id: &str) -> Error {
    Error::conflict(format!("What is on share server {server_id} has just changed; try again."))
}
