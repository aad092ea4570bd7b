//! `extend`: the growth counts from the transaction that accepts it. A pool without room refuses it with a message, and the
//! share stays as it was.

use std::sync::Arc;

use serde_json::json;

use super::{
    check_not_busy, check_not_in_bin,
    destroy::{event, growth},
    limits, network, room,
};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share::{EXTEND_FROM, ShareStatus, is_one_of, joined},
    error::{Error, Result},
    notify::share_message::{NewShareMessage, ShareAction, ShareDetail, ShareResource},
    quota::QuotaScope,
    scheduler::Operation,
    service::share_refusal as refusal,
    store::{
        Tx,
        sql::{shares::ShareRow, types::TypeOf},
    },
};

/// `force` asks no scheduler whether there is room.
///
/// # Errors
/// 400 when state or size do not allow it or its network is being changed, 403 also for the quota, 404, 413 for the size of one share, 503.
pub async fn extend(app: &Arc<App>, ctx: &RequestContext, id: &str, to_gib: i64, force: bool) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "share:extend").await?;
    if force {
        app.policy.check(ctx, "share:force_extend", &super::target(&found))?;
    }
    check_not_in_bin(&found, "extend")?;
    check_sizes(app, ctx, &found, to_gib).await?;
    let mut request = room::request(app, &found, Operation::Extend, to_gib - found.size_gib, &ctx.request_id).await?;

    let mut tx = app.store.begin().await?;
    // its network first, as everybody does who works on a network
    network::keep_still(&mut tx, found.share_network_id.as_deref()).await?;
    let Some(share) = tx.share_locked(id).await? else { return Err(refusal::share_not_found(id)) };
    check_not_in_bin(&share, "extend")?;
    decide(&share, to_gib)?;
    let by = to_gib - share.size_gib;
    tx.quota_change(&growth(&share, by)).await.map_err(refusal::over_quota_forbidden)?;
    request.size_gib = by;
    request.only_pool = share.host.clone();
    if let Some(detail) = room::take(app, &mut tx, &request).await?
        && !force
    {
        tx.quota_change(&growth(&share, -by)).await.map_err(refusal::over_quota)?;
        tell(&mut tx, ctx, &share, detail).await?;
        return Ok(tx.commit().await?);
    }
    if !tx.share_begin_resize(id, EXTEND_FROM, ShareStatus::Extending, to_gib, clock::now()).await? {
        return Err(resizing(id));
    }
    tx.enqueue(&app.jobs, super::job(app, ctx, &share, "share.extend", json!({ "to_gib": to_gib }))).await?;
    event(&mut tx, "share.extend.start", &share, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}

/// A resize is under way, whatever status an operator gave the share meanwhile.
fn resizing(id: &str) -> Error {
    refusal::invalid_share(format!("Share {id} is being resized and cannot be extended now."))
}

/// It may be extended so.
fn decide(share: &ShareRow, to_gib: i64) -> Result<()> {
    if !is_one_of(&share.status, EXTEND_FROM) {
        let wanted = joined(EXTEND_FROM);
        return Err(refusal::invalid_share(format!(
            "Share {} status must be {wanted} to extend, but current status is: {}.",
            share.id, share.status
        )));
    }
    if share.host.is_none() {
        return Err(refusal::invalid_share(format!("Share {} is not on any back end and cannot be extended.", share.id)));
    }
    check_not_busy(share, refusal::invalid_share)?;
    // before room is taken: that would close the claim of the resize that is under way
    if share.resize_to.is_some() {
        return Err(resizing(&share.id));
    }
    if to_gib <= share.size_gib {
        return Err(refusal::invalid_input(format!(
            "New size for extend must be greater than current size. (current: {}, new: {to_gib}).",
            share.size_gib
        )));
    }
    Ok(())
}

async fn check_sizes(app: &App, ctx: &RequestContext, share: &ShareRow, to_gib: i64) -> Result<()> {
    // whoever sends a size that is no growth learns that first
    decide(share, to_gib)?;
    if let Some(share_type) = app.store.resource_type(TypeOf::Share, &share.share_type_id).await? {
        let beyond = app.policy.allows(ctx, "share:extend_beyond_max_share_size_spec", &super::target(share));
        limits::check_extend(&share_type, to_gib, beyond)?;
    }
    let of = QuotaScope { project_id: &share.project_id, user_id: &share.user_id, type_id: &share.share_type_id };
    limits::check_one_share(app, of, to_gib).await
}

/// Why it did not grow.
async fn tell(tx: &mut Tx, ctx: &RequestContext, share: &ShareRow, detail: ShareDetail) -> Result<()> {
    let message = NewShareMessage {
        resource: ShareResource::Share,
        resource_id: share.id.clone(),
        project_id: share.project_id.clone(),
        request_id: ctx.request_id.clone(),
        action: ShareAction::AllocateHost,
        detail,
        extra: String::new(),
    };
    tx.add_share_message(&message).await?;
    Ok(())
}
