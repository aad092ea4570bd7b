//! `PUT /os-services/enable`, `/disable`, `/disable-log-reason`, `/freeze`, `/thaw`: they do what they answer.

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Kind, Result},
    policy::Target,
    service::{backend, block_service::VOLUME},
    store::sql::backends::BackendKind,
};

/// Enables or disables the back end `host`.
///
/// # Errors
/// 403, 404 for an unknown host or binary.
pub async fn enable(app: &App, ctx: &RequestContext, host: &str, binary: &str, enabled: bool, reason: Option<&str>) -> Result<()> {
    app.policy.check(ctx, "volume_extension:services:update", &Target::own(ctx))?;
    if binary != VOLUME {
        return Err(Error::not_found(format!("Could not find binary {binary:.255} on host {host:.255}.")));
    }
    backend::of_kind(&app.store, host, BackendKind::Block).await?;
    if enabled { backend::enable(&app.store, host).await } else { backend::disable(&app.store, host, reason).await }
}

/// Freezes or thaws the back end `host`: a frozen one is given nothing new.
///
/// # Errors
/// 400 for an unknown host (as upstream, unlike enable), 403.
pub async fn freeze(app: &App, ctx: &RequestContext, host: &str, frozen: bool) -> Result<()> {
    app.policy.check(ctx, if frozen { "volume:freeze_host" } else { "volume:thaw_host" }, &Target::own(ctx))?;
    let done = match backend::of_kind(&app.store, host, BackendKind::Block).await {
        Ok(_) if frozen => backend::freeze(&app.store, host).await,
        Ok(_) => backend::thaw(&app.store, host).await,
        Err(e) => Err(e),
    };
    done.map_err(|e| if e.kind == Kind::NotFound { Error::invalid(e.to_string()) } else { e })
}
