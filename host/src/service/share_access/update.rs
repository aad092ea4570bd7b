//! `PUT /share-access-rules/{id}`: another level.

use std::sync::Arc;

use super::{Rule, apply, held, show::load_for};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_access::AccessLevel,
    error::{Error, Result},
    service::share_refusal as refusal,
    store::sql::shares::ShareRow,
};

/// # Errors
/// 400 when the share's state does not allow it or the rule is going, 403, 404.
pub async fn update(app: &Arc<App>, ctx: &RequestContext, id: &str, level: AccessLevel) -> Result<(ShareRow, Rule)> {
    let (share, rule) = load_for(app, ctx, id, "share_access_rule:update").await?;
    let mut tx = app.store.begin().await?;
    let held = held(&mut tx, ctx, &share.id).await?;
    let Some(now) = tx.share_rule(id).await? else { return Err(refusal::rule_not_found(id)) };
    if now.access_level == level.as_str() {
        return Ok((held, Rule { row: now, ..rule }));
    }
    if !tx.share_rule_level(id, level, clock::now()).await? {
        return Err(Error::invalid(format!("Access rule {id} is being removed; its level cannot change.")));
    }
    apply(app, ctx, &mut tx, &held).await?;
    let row = tx.share_rule(id).await?.ok_or_else(|| refusal::rule_not_found(id))?;
    tx.commit().await?;
    Ok((held, Rule { row, ..rule }))
}
