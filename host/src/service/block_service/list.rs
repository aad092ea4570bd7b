//! `GET /os-services`.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{
        block_service::{SCHEDULER, VOLUME},
        parts::{self, Part},
    },
    store::sql::backends::BackendKind,
};

/// Every service of this host and binary; none is any.
///
/// # Errors
/// 403.
pub async fn list(app: &App, ctx: &RequestContext, host: Option<&str>, wanted: Option<&str>) -> Result<Vec<Part>> {
    app.policy.check(ctx, "volume_extension:services:index", &Target::own(ctx))?;
    let mut all = all(app).await?;
    all.retain(|s| wanted.is_none_or(|b| b == binary(s)) && host.is_none_or(|h| s.is_on(h)));
    Ok(all)
}

/// Every service, the scheduler first.
pub(super) async fn all(app: &App) -> Result<Vec<Part>> {
    Ok(parts::all(app, BackendKind::Block).await?)
}

/// What the part is called.
pub fn binary(part: &Part) -> &'static str {
    match part {
        Part::Scheduler { .. } => SCHEDULER,
        Part::Backend { .. } => VOLUME,
    }
}
