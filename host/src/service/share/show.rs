//! `GET /shares/{id}`.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    store::sql::share_list::{Share, With},
};

/// # Errors
/// 404 for an unknown id and for another project's that is not public.
pub async fn show(app: &App, ctx: &RequestContext, id: &str, with: With) -> Result<Share> {
    super::load(app, ctx, id, with).await
}
