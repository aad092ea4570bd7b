//! `access_list`, and `GET /share-access-rules` from 2.45.

use super::{Rule, hidden};
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::share,
    store::sql::{metadata::MetadataOf, share_access::AccessFilter, shares::ShareRow},
};

/// The rules, the oldest first, and their share.
///
/// # Errors
/// 403, 404 for the share.
pub async fn list(app: &App, ctx: &RequestContext, share_id: &str, action: &str, filter: &AccessFilter) -> Result<(ShareRow, Vec<Rule>)> {
    let share = share::load_row_for(app, ctx, share_id, action).await?;
    let rows = app.store.share_rules(share_id, filter).await?;
    let mut pairs = app.store.metadata_of_all(MetadataOf::ShareAccess, rows.iter().map(|r| r.id.as_str())).await?;
    let hidden = hidden::of(app, ctx, rows.iter().map(|r| r.id.as_str()).collect()).await?;
    // nor is it told by whether such a rule is found
    let looks_into = filter.access_to.is_some() || filter.access_key.is_some();
    let rows = rows.into_iter().filter(|r| !(looks_into && hidden.contains(&r.id)));
    let rules = rows.map(|row| Rule { metadata: pairs.remove(&row.id).unwrap_or_default(), hidden: hidden.contains(&row.id), row });
    let rules = rules.collect();
    Ok((share, rules))
}
