//! `PUT /shares/{id}`: name, description, whether everybody may see it.

use super::{check_not_in_bin, destroy::event_now};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::Result,
    service::share_refusal as refusal,
    store::sql::share_list::{Share, With},
};

/// The outer option says whether a member was given.
#[derive(Debug, Clone, Default)]
pub struct UpdateShare {
    pub name: Option<Option<String>>,
    pub description: Option<Option<String>>,
    pub is_public: Option<bool>,
}

/// # Errors
/// 403 also for a share in the recycle bin, 404.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, ask: UpdateShare, with: With) -> Result<Share> {
    let found = super::load_row_for(app, ctx, id, "share:update").await?;
    check_not_in_bin(&found, "update")?;
    if ask.is_public == Some(true) {
        app.policy.check(ctx, "share:set_public_share", &super::target(&found))?;
    }
    let mut tx = app.store.begin().await?;
    // held from here on: it does not go into the bin meanwhile
    let Some(share) = tx.share_locked(id).await? else { return Err(refusal::share_not_found(id)) };
    check_not_in_bin(&share, "update")?;
    let (name, description) = (ask.name.as_ref().map(Option::as_deref), ask.description.as_ref().map(Option::as_deref));
    event_now(&mut tx, "share.update.start", id, &ctx.request_id).await?;
    tx.share_describe(id, name, description, ask.is_public, clock::now()).await?;
    event_now(&mut tx, "share.update.end", id, &ctx.request_id).await?;
    tx.commit().await?;
    super::load(app, ctx, id, with).await
}
