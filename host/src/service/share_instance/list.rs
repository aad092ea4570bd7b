//! `GET /share_instances` and `/shares/{id}/instances`.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::share,
    store::{
        bind::Value,
        keyset::{ListKey, Order},
        sql::share_list::{Share, ShareFilter, ShareQuery, ShareSort, With},
    },
};

/// The instances, the newest first.
///
/// # Errors
/// 403.
pub async fn list(app: &App, ctx: &RequestContext, filters: Vec<ShareFilter>, limit: i64, offset: i64) -> Result<Vec<Share>> {
    app.policy.check(ctx, "share_instance:index", &Target::own(ctx))?;
    Ok(page(app, filters, limit, offset).await?)
}

/// The instances of one share.
///
/// # Errors
/// 403, 404.
pub async fn of_share(app: &App, ctx: &RequestContext, share_id: &str) -> Result<Vec<Share>> {
    app.policy.check(ctx, "share_instance:index", &Target::own(ctx))?;
    share::load_row(app, ctx, share_id).await?;
    Ok(page(app, vec![ShareFilter::Equals("s.id", Value::from(share_id))], 1, 0).await?)
}

async fn page(app: &App, filters: Vec<ShareFilter>, limit: i64, offset: i64) -> crate::store::StoreResult<Vec<Share>> {
    let newest = |key: ShareSort| Order { column: key.column(), descending: true, nullable: false };
    let order = vec![newest(ShareSort::CreatedAt), newest(ShareSort::Id)];
    let query = ShareQuery { filters, order, after: None, limit, offset };
    app.store.shares(&query, With { metadata: false, locations: true }).await
}
