//! Snapshots of volumes.

pub mod create;
pub mod delete;
pub mod destroy;
pub mod hold;
pub mod list;
pub mod reset;
pub mod show;
pub mod tell;
pub mod update;

use serde_json::Value;

use crate::{
    app::App, context::RequestContext, domain::host::backend_of, error::Result, jobs::NewJob, policy::Target, service::refusal,
    store::sql::snapshot_list::Snapshot,
};

/// The snapshot, if the caller may know of it: another project's is not found, on every path.
pub async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<Snapshot> {
    match app.store.snapshot_complete(id).await? {
        Some(snapshot) if ctx.is_admin() || snapshot.row.project_id == ctx.project_id() => Ok(snapshot),
        _ => Err(refusal::snapshot_not_found(id)),
    }
}

/// As [`load`], and the caller may do `action` with it.
pub async fn load_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<Snapshot> {
    let snapshot = load(app, ctx, id).await?;
    app.policy.check(ctx, action, &Target { project_id: &snapshot.row.project_id, user_id: &snapshot.row.user_id, ..Target::default() })?;
    Ok(snapshot)
}

/// A job about one snapshot, in the lane of its back end. Jobs of one volume and of its snapshots run one at a time.
fn job(app: &App, ctx: &RequestContext, volume_id: &str, host: &str, snapshot_id: &str, kind: &'static str) -> NewJob {
    NewJob {
        kind,
        resource_kind: "snapshot",
        order_key: volume_id.to_owned(),
        resource_id: snapshot_id.to_owned(),
        backend: Some(backend_of(host).to_owned()),
        payload: Value::Object(serde_json::Map::new()),
        max_age: app.config.get().jobs.max_age,
        request_id: ctx.request_id.clone(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
    }
}
