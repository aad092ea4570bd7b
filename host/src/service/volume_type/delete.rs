//! `DELETE /types/{id}`.

use super::list::KIND;
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::{
        page::to_tombstone,
        refusal,
        type_event::{self, Change},
    },
    store::sql::{
        tombstones::Tombstone,
        types::{TypeOf, TypeSort},
    },
};

/// # Errors
/// 400 for the default type and for one in use, 404.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    app.policy.check(ctx, "volume_extension:type_delete", &Target::own(ctx))?;
    let found = super::load(app, ctx, id).await?;
    if found.row.name == app.config.get().block.default_volume_type {
        return Err(Error::invalid(format!("The volume type {id} is a default volume type and cannot be deleted.")));
    }
    let mut tx = app.store.begin().await?;
    if tx.type_locked(TypeOf::Volume, id).await?.is_none() {
        return Err(refusal::type_not_found(id));
    }
    if tx.type_remove(TypeOf::Volume, id).await? {
        tx.tombstone(&Tombstone {
            kind: KIND,
            id: id.to_owned(),
            sort_keys: to_tombstone::<TypeSort>(&found.row),
            request_id: ctx.request_id.clone(),
            ..Tombstone::default()
        })
        .await?;
        type_event::tell(&mut tx, ctx, TypeOf::Volume, id, Change::Delete).await?;
        return Ok(tx.commit().await?);
    }
    Err(Error::invalid("Target volume type is still in use."))
}
