//! `POST /snapshots`: the rows of snapshot and instance, their quota, the room the snapshot takes on its share's own pool and
//! the job that takes it, in one transaction. When the pool has no room, the snapshot ends in error with a message, without
//! a job.

use std::sync::Arc;

use uuid::Uuid;

use super::destroy::{event, quota};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        share::{ShareStatus, TRANSITIONAL, is_one_of},
        share_snapshot::ShareSnapshotStatus,
    },
    error::{Error, Kind, Result},
    notify::share_message::{NewShareMessage, ShareAction, ShareResource},
    scheduler::Operation,
    service::{
        share::{self, check_not_busy, check_not_in_bin, room},
        share_refusal as refusal,
    },
    store::sql::{metadata::MetadataOf, share_snapshot_list::ShareSnapshot, share_snapshots::NewShareSnapshot, shares::ShareRow},
};

/// What was asked for; texts are trimmed and bounded already.
#[derive(Debug, Clone, Default)]
pub struct CreateShareSnapshot {
    pub share_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub metadata: Vec<(String, String)>,
    /// Of a share that is not available, too, as long as nothing works on it.
    pub force: bool,
}

/// # Errors
/// 400 when the share's state does not allow it, 403 also for a share in the recycle bin, 404 (the share), 413 (quota), 422
/// when the share has no snapshots, 503 right after a start.
pub async fn create(app: &Arc<App>, ctx: &RequestContext, ask: CreateShareSnapshot) -> Result<ShareSnapshot> {
    // authorise
    let found = share::load_row_for(app, ctx, &ask.share_id, "share:create_snapshot").await?;
    // validate
    if !found.snapshot_support {
        return Err(Error::new(
            Kind::Unprocessable,
            format!("Snapshots cannot be created for share '{}' since it does not have that capability.", found.id),
        ));
    }
    // what is read from outside the transaction is read before it begins
    let mut request = room::request(app, &found, Operation::Snapshot, found.size_gib, &ctx.request_id).await?;
    // decide and commit: what is decided holds until the transaction ends
    let mut tx = app.store.begin().await?;
    // its network first, as everybody does who works on a network
    share::network::keep(&mut tx, found.share_network_id.as_deref()).await?;
    let Some(share) = tx.share_locked(&found.id).await? else { return Err(refusal::share_not_found(&found.id)) };
    let host = decide(&share, ask.force)?;
    let user_id = ctx.principal.user_id.clone();
    let figures = quota(&share.project_id, &user_id, &share.share_type_id, share.size_gib, 1);
    tx.quota_change(&figures).await.map_err(refusal::over_quota)?;
    let id = Uuid::new_v4().to_string();
    request.resource_kind = "share_snapshot";
    request.resource_id.clone_from(&id);
    request.size_gib = share.size_gib;
    request.only_pool = Some(host.clone());
    // that would be a new share of one
    request.share.from_snapshot = false;
    let refused = room::take(app, &mut tx, &request).await?;
    tx.share_snapshot_insert(&NewShareSnapshot {
        id: id.clone(),
        instance_id: Uuid::new_v4().to_string(),
        share_id: share.id.clone(),
        share_instance_id: share.instance_id.clone(),
        project_id: share.project_id.clone(),
        user_id,
        name: ask.name,
        description: ask.description,
        size_gib: share.size_gib,
        share_proto: share.share_proto.clone(),
        status: if refused.is_some() { ShareSnapshotStatus::Error } else { ShareSnapshotStatus::Creating },
        backed: refused.is_none(),
        created_at: clock::now(),
    })
    .await?;
    tx.metadata_put(MetadataOf::ShareSnapshot, &id, &ask.metadata).await?;
    let row = tx.share_snapshot(&id).await?.ok_or_else(|| Error::internal("the snapshot just inserted is not there"))?;
    event(&mut tx, "share_snapshot.create.start", &row, &ctx.request_id).await?;
    match refused {
        None => {
            tx.enqueue(&app.jobs, super::job(app, ctx, &share.id, &host, &id, "share_snapshot.create")).await?;
        }
        Some(detail) => {
            tx.add_share_message(&NewShareMessage {
                resource: ShareResource::ShareSnapshot,
                resource_id: id.clone(),
                project_id: row.project_id.clone(),
                request_id: ctx.request_id.clone(),
                action: ShareAction::CreateSnapshot,
                detail,
                extra: String::new(),
            })
            .await?;
            event(&mut tx, "share_snapshot.create.error", &row, &ctx.request_id).await?;
        }
    }
    let metadata = tx.metadata(MetadataOf::ShareSnapshot, &id).await?;
    tx.commit().await?;
    Ok(ShareSnapshot { row, metadata })
}

/// The pool, if a snapshot of the share can be taken now.
fn decide(share: &ShareRow, force: bool) -> Result<String> {
    check_not_in_bin(share, "take a snapshot of")?;
    let fits = if force { !is_one_of(&share.status, TRANSITIONAL) } else { share.status == ShareStatus::Available.as_str() };
    if !fits || share.resize_to.is_some() {
        return Err(refusal::invalid_share(format!(
            "Source share status must be available; that of share {} is {}.",
            share.id, share.status
        )));
    }
    check_not_busy(share, refusal::invalid_share)?;
    share.host.clone().ok_or_else(|| {
        refusal::invalid_share(format!("Share {} is not on any back end: there is nothing to take a snapshot of.", share.id))
    })
}
