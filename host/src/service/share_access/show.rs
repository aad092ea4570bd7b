//! `GET /share-access-rules/{id}`.

use super::{Rule, hidden};
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::{share, share_refusal as refusal},
    store::sql::{metadata::MetadataOf, shares::ShareRow},
};

/// # Errors
/// 403, 404 also when the rule is of a share that the caller does not know.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<(ShareRow, Rule)> {
    load_for(app, ctx, id, "share_access_rule:get").await
}

/// A rule and its share, if the caller may do `action` with it.
pub(super) async fn load_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<(ShareRow, Rule)> {
    let Some(row) = app.store.share_rule(id).await? else { return Err(refusal::rule_not_found(id)) };
    let share = share::load_row(app, ctx, &row.share_id).await.map_err(|_| refusal::rule_not_found(id))?;
    app.policy.check(ctx, action, &share::target(&share))?;
    let metadata = app.store.metadata(MetadataOf::ShareAccess, id).await?;
    let hidden = hidden::of(app, ctx, vec![id]).await?.contains(id);
    Ok((share, Rule { row, metadata, hidden }))
}

/// That there is such a rule for the caller.
///
/// # Errors
/// 403, 404.
pub async fn known(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    load_for(app, ctx, id, "share_access_rule:get").await.map(drop)
}
