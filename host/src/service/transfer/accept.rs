//! Takes an offered volume: whoever has the key becomes its owner, and the quota moves with it.

use super::key::Kept;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    quota::QuotaDelta,
    service::{
        refusal, snapshot,
        volume::{self, destroy::event_now},
    },
    store::sql::types::TypeOf,
    store::{
        Tx,
        sql::{transfers::TransferRow, volumes::VolumeRow},
    },
};

/// # Errors
/// 400 for a wrong key or a volume that is no longer offered, 403, 404, 413 (the quota of whoever takes it).
pub async fn accept(app: &App, ctx: &RequestContext, id: &str, key: &str) -> Result<TransferRow> {
    app.policy.check(ctx, "volume:accept_transfer", &Target::own(ctx))?;
    let found = app.store.transfer(id).await?.ok_or_else(|| super::not_found(id))?;
    let kept = Kept { salt: found.salt.clone(), hash: found.key_hash.clone() };
    if !kept.is_of(key) {
        return Err(Error::invalid(format!("Invalid auth key: Attempt to transfer {} with invalid auth key.", found.id)));
    }
    let limit = app.store.quota_limit(ctx.project_id(), "per_volume_gigabytes").await?;
    let mut tx = app.store.begin().await?;
    let volume = tx.volume_locked(&found.volume_id).await?;
    let (Some(volume), Some(transfer)) = (volume, tx.transfer(id).await?) else { return Err(super::not_found(id)) };
    if limit >= 0 && volume.size_gib > limit {
        return Err(Error::over_limit(
            "VolumeSizeExceedsLimit",
            format!("Volume size {}G would exceed the limit of {limit}G for one volume.", volume.size_gib),
        ));
    }
    event_now(&mut tx, "volume.transfer.accept.start", &volume.id, &ctx.request_id).await?;
    let figures = figures(&mut tx, &volume, &transfer, ctx.project_id()).await?;
    tx.quota_change(&figures).await.map_err(refusal::over_quota)?;
    if !tx.volume_give(&volume.id, ctx.project_id(), &ctx.principal.user_id, clock::now()).await? {
        return Err(refusal::invalid_volume(format!(
            "Transfer {id}: Volume id {} expected in state awaiting-transfer, but it is {}.",
            volume.id, volume.status
        )));
    }
    if !transfer.no_snapshots {
        tx.snapshots_give(&volume.id, &transfer.project_id, ctx.project_id(), &ctx.principal.user_id, clock::now()).await?;
    }
    super::forget(&mut tx, &transfer, &ctx.request_id).await?;
    event_now(&mut tx, "volume.transfer.accept.end", &volume.id, &ctx.request_id).await?;
    tx.commit().await?;
    Ok(transfer)
}

/// What one project gives and the other takes, in all and of the type.
async fn figures(tx: &mut Tx, volume: &VolumeRow, transfer: &TransferRow, to: &str) -> Result<Vec<QuotaDelta>> {
    // as it is called now, and until this transaction ends
    let type_name = tx.type_name_kept(TypeOf::Volume, &volume.volume_type_id).await?.unwrap_or_else(|| volume.type_name.clone());
    let snapshots = if transfer.no_snapshots { Vec::new() } else { tx.snapshots_of(&volume.id).await? };
    let mut figures = Vec::new();
    for (project, sign) in [(transfer.project_id.as_str(), -1), (to, 1)] {
        figures.extend(volume::destroy::quota(project, &type_name, volume.size_gib, sign));
        for s in snapshots.iter().filter(|s| s.project_id == transfer.project_id) {
            figures.extend(snapshot::destroy::quota(project, &type_name, s.quota_gib, sign));
        }
    }
    Ok(summed(figures))
}

/// One change of each figure: what is over its limit in the end is refused, and nothing on the way there.
fn summed(figures: Vec<QuotaDelta>) -> Vec<QuotaDelta> {
    let mut sums: Vec<QuotaDelta> = Vec::new();
    for figure in figures {
        match sums.iter_mut().find(|s| s.project_id == figure.project_id && s.resource == figure.resource) {
            Some(sum) => sum.amount += figure.amount,
            None => sums.push(figure),
        }
    }
    sums
}
