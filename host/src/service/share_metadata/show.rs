//! Reading a share's pairs.

use super::no_such_key;
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::share::load_row_to_read,
    store::sql::metadata::{MetadataOf, Pairs},
};

/// All pairs, by key.
///
/// # Errors
/// 403, 404.
pub async fn all(app: &App, ctx: &RequestContext, share_id: &str) -> Result<Pairs> {
    load_row_to_read(app, ctx, share_id, "share:get_share_metadata").await?;
    Ok(app.store.metadata(MetadataOf::Share, share_id).await?)
}

/// One value.
///
/// # Errors
/// 403, 404 also for a key that is not there.
pub async fn one(app: &App, ctx: &RequestContext, share_id: &str, key: &str) -> Result<String> {
    let pairs = all(app, ctx, share_id).await?;
    pairs.into_iter().find(|(k, _)| k == key).map(|(_, v)| v).ok_or_else(|| no_such_key(key))
}
