//! One transfer, for the project that offers the volume.

use crate::{app::App, context::RequestContext, error::Result, store::sql::transfers::TransferRow};

/// # Errors
/// 403, 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<TransferRow> {
    super::load_for(app, ctx, id, "volume:get_transfer").await
}
