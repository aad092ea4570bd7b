//! `POST /snapshots/manage`: a snapshot that somebody else took becomes one of ours. Its rows come at once, in `manage_starting`
//! and as large as its share; a job has the driver take it over, and it ends available, or in `manage_error` with a message.
//!
//! What is there already only has to be counted: no limit keeps an operator from it.

use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;

use super::destroy::{event, quota};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{share::ShareStatus, share_snapshot::ShareSnapshotStatus},
    driver::types::StringMap,
    error::{Error, Result},
    jobs::NewJob,
    service::{
        share::{self, check_not_in_bin},
        share_refusal as refusal,
    },
    store::sql::{metadata::MetadataOf, share_snapshot_list::ShareSnapshot, share_snapshots::NewShareSnapshot},
};

/// From here on snapshots of shares on share servers can be taken over and let go of.
pub(super) const SERVERS_SINCE: u16 = 49;

/// What was asked for; texts are trimmed and bounded already.
#[derive(Debug, Clone, Default)]
pub struct ManageSnapshot {
    pub share_id: String,
    /// What the array knows it by.
    pub location: String,
    /// For the driver.
    pub options: Vec<(String, String)>,
    pub name: Option<String>,
    pub description: Option<String>,
    pub metadata: Vec<(String, String)>,
}

/// # Errors
/// 403 also for a share in the recycle bin, 404 (the share), 409 when its state does not allow it or such a snapshot of it is known.
pub async fn manage(app: &Arc<App>, ctx: &RequestContext, ask: ManageSnapshot) -> Result<ShareSnapshot> {
    let found = share::load_row_for(app, ctx, &ask.share_id, "share_snapshot:manage_snapshot").await?;
    let mut tx = app.store.begin().await?;
    // its network first, as everybody does who works on a network
    share::network::keep(&mut tx, found.share_network_id.as_deref()).await?;
    // held from here on: of two who want the same snapshot one comes first
    let Some(share) = tx.share_locked(&found.id).await? else { return Err(refusal::share_not_found(&found.id)) };
    check_not_in_bin(&share, "manage a snapshot of")?;
    if ctx.microversion < SERVERS_SINCE && share.share_server_id.is_some() {
        return Err(refusal::forbidden_share(format!(
            "Share {} is on a share server: its snapshots cannot be managed before 2.49.",
            share.id
        )));
    }
    let Some(host) = share.host.clone().filter(|_| share.status == ShareStatus::Available.as_str()) else {
        return Err(Error::conflict(format!("Share {} has the status {}; it must be available.", share.id, share.status)));
    };
    if tx.share_snapshots_known_as(&share.id, &ask.location).await? > 0 {
        return Err(Error::conflict(format!("The snapshot {:.255} of share {} is managed already.", ask.location, share.id)));
    }
    let (id, user_id) = (Uuid::new_v4().to_string(), share.user_id.clone());
    tx.quota_count_in(&quota(&share.project_id, &user_id, &share.share_type_id, share.size_gib, 1)).await?;
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
        status: ShareSnapshotStatus::Managing,
        backed: true,
        created_at: clock::now(),
    })
    .await?;
    tx.share_snapshot_known_as(&id, &ask.location).await?;
    tx.metadata_put(MetadataOf::ShareSnapshot, &id, &ask.metadata).await?;
    let row = tx.share_snapshot(&id).await?.ok_or_else(|| Error::internal("the snapshot just inserted is not there"))?;
    let options: StringMap = ask.options.into_iter().collect();
    let job = super::job(app, ctx, &share.id, &host, &id, "share_snapshot.manage");
    tx.enqueue(&app.jobs, NewJob { payload: json!({ "location": ask.location, "options": options }), ..job }).await?;
    event(&mut tx, "share_snapshot.manage.start", &row, &ctx.request_id).await?;
    let metadata = tx.metadata(MetadataOf::ShareSnapshot, &id).await?;
    tx.commit().await?;
    Ok(ShareSnapshot { row, metadata })
}
