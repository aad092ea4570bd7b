//! `PUT /types/{id}`.

use super::{authorise, create::name_taken, load};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    service::{
        share_refusal as refusal,
        type_event::{self, Change},
    },
    store::sql::types::{Type, TypeOf},
};

/// What was asked for; none leaves it as it is. An empty description is none.
#[derive(Debug, Clone, Default)]
pub struct UpdateType {
    pub name: Option<String>,
    pub description: Option<String>,
    pub is_public: Option<bool>,
}

/// # Errors
/// 400 for nothing to do or an empty name, 403, 404, 409 for a taken name.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, ask: UpdateType) -> Result<Type> {
    authorise(app, ctx, "share_type:update")?;
    if ask.name.is_none() && ask.description.is_none() && ask.is_public.is_none() {
        return Err(Error::invalid("Specify share type name, description, share_type_access:is_public or a combination thereof."));
    }
    if ask.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
        return Err(Error::invalid("Share type name cannot be empty."));
    }
    let mut tx = app.store.begin().await?;
    if tx.type_locked(TypeOf::Share, id).await?.is_none() {
        return Err(refusal::type_not_found());
    }
    let description = ask.description.as_deref().map(|text| Some(text).filter(|t| !t.is_empty()));
    let done = tx.type_update(TypeOf::Share, id, ask.name.as_deref(), description, ask.is_public, clock::now()).await;
    if !done.map_err(|e| name_taken(e, ask.name.as_deref().unwrap_or_default()))? {
        return Err(refusal::type_not_found());
    }
    type_event::tell(&mut tx, ctx, TypeOf::Share, id, Change::Update).await?;
    tx.commit().await?;
    load(app, ctx, id).await
}
