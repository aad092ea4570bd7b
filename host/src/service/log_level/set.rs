//! `PUT /os-services/set-log`.

use tracing_subscriber::filter::LevelFilter;

use super::{Which, follow};
use crate::{app::App, context::RequestContext, error::Result, policy::Target};

/// Sets the level of whatever begins with `prefix` in the processes that are meant.
///
/// # Errors
/// 403.
pub async fn set(app: &App, ctx: &RequestContext, which: &Which, prefix: &str, level: LevelFilter) -> Result<()> {
    app.policy.check(ctx, "volume_extension:services:update", &Target::own(ctx))?;
    if !names_targets(prefix) {
        return Ok(());
    }
    let meant = which.processes(app).await?;
    let mut tx = app.store.begin().await?;
    for (process, _) in &meant {
        tx.set_log_level(&process.id, prefix, &level.to_string()).await?;
    }
    tx.commit().await?;
    follow::look(app, false).await
}

/// Whether any target could begin so. To set what nothing has changes nothing, as upstream.
fn names_targets(prefix: &str) -> bool {
    prefix.len() <= 255 && prefix.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '-'))
}
