//! `POST /snapshots`: the row, its quota, the room it takes on its volume's own pool and the job that makes it, in one
//! transaction. When the pool has no room, the snapshot ends in error with a message, without a job.

use std::sync::Arc;

use uuid::Uuid;

use super::destroy::{event, quota};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        snapshot::SnapshotStatus,
        volume::{SNAPSHOT_FROM, SNAPSHOT_IN_USE_FROM, VolumeStatus, either},
    },
    error::{Error, Result},
    notify::message::{Action, Detail, NewMessage, Resource},
    policy::Target,
    scheduler::{Operation, PlacementRequest},
    service::{
        refusal,
        volume::{self, create::check_metadata_count, hold::hold_found, room},
    },
    store::sql::metadata::MetadataOf,
    store::sql::types::TypeOf,
    store::sql::{snapshot_list::Snapshot, snapshots::NewSnapshot, volumes::VolumeRow},
};

/// What was asked for; texts are trimmed and bounded already.
#[derive(Debug, Clone, Default)]
pub struct CreateSnapshot {
    pub volume_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub metadata: Vec<(String, String)>,
    /// Of a volume that is attached, too.
    pub in_use: bool,
}

/// # Errors
/// 400 when the volume's state does not allow it, 403, 404 (the volume), 413 (quota), 503 right after a start.
pub async fn create(app: &Arc<App>, ctx: &RequestContext, ask: CreateSnapshot) -> Result<Snapshot> {
    // validate
    check_metadata_count(ask.metadata.len())?;
    // authorise
    let found = volume::load_row(app, ctx, &ask.volume_id).await?;
    app.policy.check(ctx, "volume:create_snapshot", &Target::project(&found.project_id))?;
    let specs = room::specs(app, &found.volume_type_id).await?;
    let qos = room::qos(app, &found.volume_type_id).await?;
    // decide and commit: what is decided holds until the transaction ends
    let (mut tx, volume) = hold_found(app, &found).await?;
    let host = decide(&volume, ask.in_use)?;
    let quota_gib = if app.config.get().block.no_snapshot_gb_quota { 0 } else { volume.size_gib };
    let type_name = tx.type_name_kept(TypeOf::Volume, &volume.volume_type_id).await?.unwrap_or_else(|| volume.type_name.clone());
    tx.quota_change(&quota(&volume.project_id, &type_name, quota_gib, 1)).await.map_err(refusal::over_quota)?;
    let id = Uuid::new_v4().to_string();
    let request = PlacementRequest {
        resource_kind: "snapshot",
        resource_id: id.clone(),
        only_pool: Some(host.clone()),
        operation: Operation::Snapshot,
        ..PlacementRequest::of_volume(&volume, &ctx.request_id, specs, qos)
    };
    let refused = room::take(app, &mut tx, request).await?;
    let status = if refused.is_some() { SnapshotStatus::Error } else { SnapshotStatus::Creating };
    tx.snapshot_insert(&NewSnapshot {
        id: id.clone(),
        volume_id: volume.id.clone(),
        project_id: volume.project_id.clone(),
        user_id: ctx.principal.user_id.clone(),
        name: ask.name.filter(|n| !n.is_empty()),
        description: ask.description,
        size_gib: volume.size_gib,
        status,
        backed: refused.is_none(),
        quota_gib,
        created_at: clock::now(),
    })
    .await?;
    tx.metadata_put(MetadataOf::Snapshot, &id, &ask.metadata).await?;
    let row = tx.snapshot(&id).await?.ok_or_else(|| Error::internal("the snapshot just inserted is not there"))?;
    event(&mut tx, "snapshot.create.start", &row, &ctx.request_id).await?;
    match refused {
        None => {
            tx.enqueue(&app.jobs, super::job(app, ctx, &volume.id, &host, &id, "snapshot.create")).await?;
        }
        Some(why) => {
            tx.add_message(&NewMessage {
                resource: Resource::VolumeSnapshot,
                resource_id: id.clone(),
                project_id: row.project_id.clone(),
                request_id: ctx.request_id.clone(),
                action: Action::SnapshotCreate,
                detail: Detail::NotEnoughSpace,
                extra: why,
            })
            .await?;
            event(&mut tx, "snapshot.create.error", &row, &ctx.request_id).await?;
        }
    }
    tx.commit().await?;
    let mut metadata = ask.metadata;
    metadata.sort();
    Ok(Snapshot { row, metadata })
}

/// The pool, if the volume can be snapshotted now.
fn decide(volume: &VolumeRow, in_use: bool) -> Result<String> {
    let from = if in_use { SNAPSHOT_IN_USE_FROM } else { SNAPSHOT_FROM };
    if VolumeStatus::parse(&volume.status).is_none_or(|s| !from.contains(&s)) {
        return Err(refusal::invalid_volume(format!(
            "Volume {} status must be {}, but current status is: {}.",
            volume.id,
            either(from),
            volume.status
        )));
    }
    if volume.is_moving() {
        return Err(refusal::invalid_volume(format!("Snapshot cannot be created while volume {} is migrating.", volume.id)));
    }
    if volume.being_changed() {
        return Err(refusal::invalid_volume(format!(
            "Volume {} is being extended or retyped: take the snapshot when that has ended.",
            volume.id
        )));
    }
    volume.host.clone().ok_or_else(|| {
        refusal::invalid_volume(format!("Volume {} is not on any back end: there is nothing to take a snapshot of.", volume.id))
    })
}
