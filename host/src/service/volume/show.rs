//! `GET /volumes/{id}`.

use crate::{app::App, context::RequestContext, error::Result, store::sql::volume_list::Volume};

/// # Errors
/// 404 for an unknown id and for another project's.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<Volume> {
    super::load_for(app, ctx, id, "volume:get").await
}
