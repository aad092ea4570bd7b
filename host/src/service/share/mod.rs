//! Shares.

pub mod affinity;
pub mod create;
pub mod delete;
pub mod destroy;
pub mod extend;
pub mod limits;
pub mod list;
pub mod manage;
pub mod mount_point;
pub mod network;
pub mod replicas;
pub mod reset;
pub mod restore;
pub mod revert;
pub mod room;
pub mod show;
pub mod shrink;
pub mod soft_delete;
pub mod source;
pub mod unmanage;
pub mod update;

use crate::{
    app::App,
    context::RequestContext,
    domain::share::is_busy,
    error::{Error, Result},
    jobs::NewJob,
    policy::Target,
    service::share_refusal as refusal,
    store::sql::{
        share_list::{Share, With},
        shares::ShareRow,
    },
};

/// What policy is asked about a share.
pub fn target(share: &ShareRow) -> Target<'_> {
    Target { project_id: &share.project_id, user_id: &share.user_id, ..Target::default() }
}

/// The share, if the caller may know of it: another project's is not found, unless it is public. What he may do with it is the
/// next question.
pub async fn load_row(app: &App, ctx: &RequestContext, id: &str) -> Result<ShareRow> {
    match app.store.share(id).await? {
        Some(row) if row.is_public || row.project_id == ctx.project_id() || app.policy.allows(ctx, "share:get", &target(&row)) => Ok(row),
        _ => Err(refusal::share_not_found(id)),
    }
}

/// As [`load_row`], with what a view shows beside it, for whoever may read it.
pub async fn load(app: &App, ctx: &RequestContext, id: &str, with: With) -> Result<Share> {
    let row = load_row_to_read(app, ctx, id, "share:get").await?;
    Ok(app.store.share_completed(row, with).await?)
}

/// As [`load_row`], and the caller may do `action` with it. Who may not even with a share of its own is told so whatever there is.
pub async fn load_row_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<ShareRow> {
    app.policy.check(ctx, action, &Target::own(ctx))?;
    let row = load_row(app, ctx, id).await?;
    app.policy.check(ctx, action, &target(&row))?;
    Ok(row)
}

/// As [`load_row`], and the caller may read `action` of it: everybody may of a public share.
pub async fn load_row_to_read(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<ShareRow> {
    let row = load_row(app, ctx, id).await?;
    app.policy.check(ctx, action, &if row.is_public { Target::own(ctx) } else { target(&row) })?;
    Ok(row)
}

/// A job about one share, in the lane of its back end if it is on one; jobs of one share run one at a time.
pub fn job(app: &App, ctx: &RequestContext, share: &ShareRow, kind: &'static str, payload: serde_json::Value) -> NewJob {
    NewJob {
        kind,
        resource_kind: "share",
        order_key: share.id.clone(),
        resource_id: share.id.clone(),
        backend: share.backend().map(str::to_owned),
        payload,
        max_age: app.config.get().jobs.max_age,
        request_id: ctx.request_id.clone(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
    }
}

/// Refuses a share in the recycle bin.
pub(in crate::service) fn check_not_in_bin(share: &ShareRow, action: &str) -> Result<()> {
    if share.is_soft_deleted { Err(refusal::soft_deleted(action, &share.id)) } else { Ok(()) }
}

/// Refuses a share that something else works on.
pub(in crate::service) fn check_not_busy(share: &ShareRow, refuse: impl Fn(String) -> Error) -> Result<()> {
    let task = share.task_state.as_deref();
    if is_busy(task) { Err(refuse(refusal::busy(&share.id, task))) } else { Ok(()) }
}
