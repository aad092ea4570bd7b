//! `/os-hosts`: the older view of the services, and what a back end holds.

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::{backend, block_service::list, parts::Part},
    store::sql::{backend_usage::BackendUsage, backends::BackendKind},
};

/// Every service.
///
/// # Errors
/// 403.
pub async fn list(app: &App, ctx: &RequestContext) -> Result<Vec<Part>> {
    may(app, ctx)?;
    list::all(app).await
}

/// What the back end `host` holds, a row a project.
///
/// # Errors
/// 403; 404 for what is no enabled back end, as upstream.
pub async fn usage(app: &App, ctx: &RequestContext, host: &str) -> Result<Vec<BackendUsage>> {
    may(app, ctx)?;
    let found = app.store.backend(host).await?.filter(|b| b.kind == BackendKind::Block && b.enabled);
    if found.is_none() {
        return Err(Error::not_found(format!("Host {host:.255} could not be found.")));
    }
    Ok(app.store.backend_usage(host).await?)
}

/// Enables or disables the back end `host`.
///
/// # Errors
/// 403, 404.
pub async fn enable(app: &App, ctx: &RequestContext, host: &str, enabled: bool) -> Result<()> {
    may(app, ctx)?;
    backend::of_kind(&app.store, host, BackendKind::Block).await?;
    if enabled { backend::enable(&app.store, host).await } else { backend::disable(&app.store, host, None).await }
}

fn may(app: &App, ctx: &RequestContext) -> Result<()> {
    app.policy.check(ctx, "volume_extension:hosts", &Target::own(ctx))
}
