//! `GET /shares/{id}`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::share_list::Share};

/// # Errors
/// 404 for an unknown id and for another project's that is not public.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<Share> {
    super::load_row_to_read(app, ctx, id, "share:get").await?;
    super::load(app, ctx, id).await
}
