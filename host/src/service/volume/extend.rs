//! `os-extend`: the new size counts in the quota and takes room on the pool from the moment it is accepted. When the pool
//! has none, nothing has changed but for a message to the user.

use std::sync::Arc;

use serde_json::json;

use super::hold::hold_found;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::volume::VolumeStatus,
    error::{Error, Result},
    notify::message::{Action, Detail, NewMessage, Resource},
    policy::Target,
    quota::QuotaDelta,
    scheduler::{Operation, PlacementRequest},
    service::{
        refusal,
        volume::{destroy::event, room},
    },
    store::sql::types::TypeOf,
    store::sql::{snapshots::CopySource, volumes::VolumeRow},
};

/// `online` says that an attached volume may be extended (3.42).
///
/// # Errors
/// 400 when its state does not allow it or the size is not larger, 403, 404, 413 (quota), 503 right after a start.
pub async fn extend(app: &Arc<App>, ctx: &RequestContext, id: &str, to_gib: i64, online: bool) -> Result<()> {
    let found = super::load_row(app, ctx, id).await?;
    let in_use = online && found.status == VolumeStatus::InUse.as_str();
    let action = if in_use { "volume:extend_attached_volume" } else { "volume:extend" };
    app.policy.check(ctx, action, &Target { project_id: &found.project_id, user_id: &found.user_id, ..Target::default() })?;
    let specs = room::specs(app, &found.volume_type_id).await?;
    let qos = room::qos(app, &found.volume_type_id).await?;
    let limit = app.store.quota_limit(&found.project_id, "per_volume_gigabytes").await?;

    let (mut tx, volume) = hold_found(app, &found).await?;
    let (from, host) = decide(&volume, in_use, to_gib)?;
    if let Some(copy) = tx.being_copied(CopySource::Volume, id).await? {
        return Err(refusal::invalid_volume(format!("Volume {id} is being copied to volume {copy}; extend it when that has ended.")));
    }
    if limit >= 0 && to_gib > limit {
        return Err(Error::over_limit(
            "VolumeSizeExceedsLimit",
            format!(
                "Requested volume size {to_gib}G is larger than maximum allowed limit {limit}G; it would exceed the limit for one volume."
            ),
        ));
    }
    let growth = to_gib - volume.size_gib;
    let type_name = tx.type_name_kept(TypeOf::Volume, &volume.volume_type_id).await?.unwrap_or_else(|| volume.type_name.clone());
    tx.quota_change(&quota(&volume.project_id, &type_name, growth)).await.map_err(refusal::over_quota)?;
    let request = PlacementRequest {
        size_gib: growth,
        whole_gib: Some(to_gib),
        only_pool: Some(host),
        operation: Operation::Extend,
        attached: in_use,
        ..PlacementRequest::of_volume(&volume, &ctx.request_id, specs, qos)
    };
    if let Some(why) = room::take(app, &mut tx, request).await? {
        tx.quota_change(&quota(&volume.project_id, &type_name, -growth)).await.map_err(refusal::over_quota)?;
        tx.add_message(&NewMessage {
            resource: Resource::Volume,
            resource_id: volume.id.clone(),
            project_id: volume.project_id.clone(),
            request_id: ctx.request_id.clone(),
            action: Action::ExtendVolume,
            detail: Detail::NotEnoughSpace,
            extra: why,
        })
        .await?;
        return Ok(tx.commit().await?);
    }
    if !tx.volume_begin_extend(id, &[from], to_gib, clock::now()).await? {
        return Err(changing(id));
    }
    let job = super::create::job(app, ctx, id, volume.backend(), "volume.extend", json!({ "to_gib": to_gib }));
    tx.enqueue(&app.jobs, job).await?;
    event(&mut tx, "volume.resize.start", &volume, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}

/// The state it starts from and the pool, if it may be extended so.
fn decide(volume: &VolumeRow, in_use: bool, to_gib: i64) -> Result<(VolumeStatus, String)> {
    let from = if in_use { VolumeStatus::InUse } else { VolumeStatus::Available };
    if volume.status != from.as_str() {
        return Err(refusal::invalid_volume(format!(
            "Volume {} status must be '{from}' to extend, currently {}.",
            volume.id, volume.status
        )));
    }
    // before room is taken: that would close the claim of an extend that is under way
    if volume.being_changed() || volume.is_moving() {
        return Err(changing(&volume.id));
    }
    if to_gib <= volume.size_gib {
        return Err(refusal::invalid_input(format!(
            "New size for extend must be greater than current size. (current: {}, extended: {to_gib}).",
            volume.size_gib
        )));
    }
    let host = volume.host.clone();
    let host =
        host.ok_or_else(|| refusal::invalid_volume(format!("Volume {} is not on any back end and cannot be extended.", volume.id)))?;
    Ok((from, host))
}

/// Something is under way on it, whatever status an operator gave it meanwhile.
fn changing(id: &str) -> Error {
    refusal::invalid_volume(format!("Volume {id} is being changed or migrated and cannot be extended now."))
}

/// The two figures a growth counts in.
pub fn quota(project_id: &str, type_name: &str, gib: i64) -> Vec<QuotaDelta> {
    vec![QuotaDelta::project(project_id, "gigabytes", gib), QuotaDelta::project(project_id, format!("gigabytes_{type_name}"), gib)]
}
