//! `os-reserve`: nobody else gets the volume until `os-attach` or `os-unreserve`.

use super::{begin, hold, starts_from};
use crate::{app::App, context::RequestContext, domain::attachment::OlderAction, error::Result};

/// # Errors
/// 400 when its state does not allow it, 403, 404.
pub async fn reserve(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    let (mut tx, volume) = hold(app, ctx, id, "volume_extension:volume_actions:reserve").await?;
    begin(app, ctx, &mut tx, &volume, starts_from(&volume), OlderAction::Reserve, None).await?;
    Ok(tx.commit().await?)
}
