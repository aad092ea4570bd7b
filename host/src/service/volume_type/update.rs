//! `PUT /types/{id}`.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::{
        refusal,
        type_event::{self, Change},
    },
    store::sql::types::{Type, TypeOf},
};

/// The outer option says whether a member was given.
#[derive(Debug, Clone, Default)]
pub struct UpdateType {
    pub name: Option<String>,
    pub description: Option<Option<String>>,
    pub is_public: Option<bool>,
}

/// # Errors
/// 400 for nothing to do or an empty name, 404, 409 for a taken name.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, ask: UpdateType) -> Result<Type> {
    app.policy.check(ctx, "volume_extension:type_update", &Target::own(ctx))?;
    if ask.name.is_none() && ask.description.is_none() && ask.is_public.is_none() {
        return Err(Error::invalid("Specify volume type name, description, is_public or a combination thereof."));
    }
    if ask.name.as_deref() == Some("") {
        return Err(Error::invalid("Volume type name can not be empty."));
    }
    super::load(app, ctx, id).await?;
    let mut tx = app.store.begin().await?;
    let Some(old) = tx.type_locked(TypeOf::Volume, id).await? else { return Err(refusal::type_not_found(id)) };
    let renamed = ask.name.as_deref().filter(|new| *new != old);
    if renamed.is_some() && old == app.config.get().block.default_volume_type {
        return Err(refusal::invalid_input(format!("{old} is the default volume type: name another in block.default_volume_type first.")));
    }
    let description = ask.description.as_ref().map(Option::as_deref);
    let done = tx.type_update(TypeOf::Volume, id, renamed, description, ask.is_public, clock::now()).await;
    if !done.map_err(|e| super::create::name_taken(e, renamed.unwrap_or_default()))? {
        return Err(refusal::type_not_found(id));
    }
    if let Some(new) = renamed {
        // the figures of a type are kept under its name
        for resource in ["volumes", "gigabytes", "snapshots"] {
            tx.quota_rename(&format!("{resource}_{old}"), &format!("{resource}_{new}")).await?;
        }
    }
    type_event::tell(&mut tx, ctx, TypeOf::Volume, id, Change::Update).await?;
    tx.commit().await?;
    super::load(app, ctx, id).await
}
