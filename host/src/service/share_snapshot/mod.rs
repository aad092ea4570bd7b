//! Snapshots of shares.

pub mod create;
pub mod delete;
pub mod destroy;
pub mod list;
pub mod manage;
pub mod metadata;
pub mod reset;
pub mod show;
pub mod unmanage;
pub mod update;

use serde_json::Value;

use crate::{
    app::App,
    context::RequestContext,
    domain::host::backend_of,
    error::Result,
    jobs::NewJob,
    policy::Target,
    service::share_refusal as refusal,
    store::sql::{metadata::MetadataOf, share_snapshot_list::ShareSnapshot, share_snapshots::ShareSnapshotRow},
};

/// What policy is asked about a snapshot.
pub fn target(snapshot: &ShareSnapshotRow) -> Target<'_> {
    Target { project_id: &snapshot.project_id, user_id: &snapshot.user_id, ..Target::default() }
}

/// The snapshot, if the caller may know of it: another project's is not found, on every path. What he may do with it is the
/// next question.
pub async fn load_row(app: &App, ctx: &RequestContext, id: &str) -> Result<ShareSnapshotRow> {
    match app.store.share_snapshot(id).await? {
        Some(row) if row.project_id == ctx.project_id() || app.policy.allows(ctx, "share_snapshot:get_snapshot", &target(&row)) => Ok(row),
        _ => Err(refusal::snapshot_not_found(id)),
    }
}

/// As [`load_row`], and the caller may do `action` with it. Who may not even with a snapshot of his own is told so whatever
/// there is.
pub async fn load_row_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<ShareSnapshotRow> {
    app.policy.check(ctx, action, &Target::own(ctx))?;
    let row = load_row(app, ctx, id).await?;
    app.policy.check(ctx, action, &target(&row))?;
    Ok(row)
}

/// As [`load_row`], with metadata, for whoever may read it.
pub async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<ShareSnapshot> {
    let row = load_row_for(app, ctx, id, "share_snapshot:get_snapshot").await?;
    let metadata = app.store.metadata(MetadataOf::ShareSnapshot, &row.id).await?;
    Ok(ShareSnapshot { row, metadata })
}

/// A job about one snapshot, in the lane of its back end. Jobs of one share and of its snapshots run one at a time.
pub(in crate::service) fn job(
    app: &App,
    ctx: &RequestContext,
    share_id: &str,
    host: &str,
    snapshot_id: &str,
    kind: &'static str,
) -> NewJob {
    NewJob {
        kind,
        resource_kind: "share_snapshot",
        order_key: share_id.to_owned(),
        resource_id: snapshot_id.to_owned(),
        backend: Some(backend_of(host).to_owned()),
        payload: Value::Object(serde_json::Map::new()),
        max_age: app.config.get().jobs.max_age,
        request_id: ctx.request_id.clone(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
    }
}
