//! `unmanage`: a share is forgotten, and stays on its back end as it is.

use std::sync::Arc;

use serde_json::json;

use super::{check_not_busy, check_not_in_bin, destroy, network};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share::{ShareStatus, TRANSITIONAL, is_one_of},
    error::Result,
    service::{resource_lock, share_refusal as refusal},
    store::sql::shares::ShareRow,
};

/// From here on shares on share servers can be let go of.
const SERVERS_SINCE: u16 = 49;

/// # Errors
/// 400 while its network is being changed, 403 also when something is under way, it has snapshots, is locked or in the recycle bin, 404.
pub async fn unmanage(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "share:unmanage").await?;
    let mut tx = app.store.begin().await?;
    // its network first, as everybody does who works on a network
    network::keep_still(&mut tx, found.share_network_id.as_deref()).await?;
    // held from here on: no snapshot begins between the look at them and the change
    let Some(share) = tx.share_locked(id).await? else { return Err(refusal::share_not_found(id)) };
    check_not_in_bin(&share, "unmanage")?;
    if ctx.microversion < SERVERS_SINCE && share.share_server_id.is_some() {
        return Err(refusal::forbidden_share(format!("Share {id} is on a share server and cannot be unmanaged before 2.49.")));
    }
    resource_lock::check_share_deletes(&mut tx, id).await?;
    let snapshots = tx.share_snapshot_count(id).await?;
    if snapshots > 0 {
        return Err(refusal::forbidden_share(refusal::has_snapshots(id, snapshots)));
    }
    check_not_busy(&share, refusal::forbidden_share)?;
    let from: Vec<ShareStatus> = ShareStatus::ALL.iter().copied().filter(|s| !is_one_of(s.as_str(), TRANSITIONAL)).collect();
    let going = ShareRow { status: ShareStatus::Unmanaging.as_str().to_owned(), ..share.clone() };
    if share.resize_to.is_some() || !tx.share_status(id, &from, ShareStatus::Unmanaging, clock::now()).await? {
        return Err(refusal::forbidden_share(format!("Share {id} has the status {}: unmanage it when that has ended.", share.status)));
    }
    destroy::event(&mut tx, "share.unmanage.start", &going, &ctx.request_id).await?;
    tx.enqueue(&app.jobs, super::job(app, ctx, &share, "share.unmanage", json!({}))).await?;
    Ok(tx.commit().await?)
}
