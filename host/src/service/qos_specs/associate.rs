//! Giving QoS specs to types and taking them back. A type has at most one.

use serde_json::json;

use super::load;
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::{refusal, type_event, volume_type},
};

const UPDATE: &str = "volume_extension:qos_specs_manage:update";

/// Id and name of the types that have them.
///
/// # Errors
/// 403, 404.
pub async fn types(app: &App, ctx: &RequestContext, id: &str) -> Result<Vec<(String, String)>> {
    app.policy.check(ctx, "volume_extension:qos_specs_manage:get_all", &Target::own(ctx))?;
    load(app, id).await?;
    Ok(app.store.types_of_qos_specs(id).await?)
}

/// # Errors
/// 400 when the type has others, 403, 404.
pub async fn give(app: &App, ctx: &RequestContext, id: &str, type_id: &str) -> Result<()> {
    app.policy.check(ctx, UPDATE, &Target::own(ctx))?;
    load(app, id).await?;
    let to = volume_type::load(app, ctx, type_id).await?;
    let mut tx = super::hold(app, id).await?;
    if !tx.qos_associate(id, &to.row.id).await? {
        return Err(Error::invalid(format!("Type {type_id:.255} is already associated with another qos specs.")));
    }
    type_event::tell_qos(&mut tx, ctx, id, "associate", json!({ "type_id": to.row.id })).await?;
    Ok(tx.commit().await?)
}

/// From one type, or from all.
///
/// # Errors
/// 403, 404 (also for a type that does not have them).
pub async fn take(app: &App, ctx: &RequestContext, id: &str, type_id: Option<&str>) -> Result<()> {
    app.policy.check(ctx, UPDATE, &Target::own(ctx))?;
    load(app, id).await?;
    let mut tx = super::hold(app, id).await?;
    let taken = tx.qos_disassociate(id, type_id).await?;
    if let Some(type_id) = type_id.filter(|_| taken == 0) {
        return Err(refusal::type_not_found(type_id));
    }
    let what = if type_id.is_some() { "disassociate" } else { "disassociate_all" };
    type_event::tell_qos(&mut tx, ctx, id, what, json!({ "type_id": type_id })).await?;
    Ok(tx.commit().await?)
}
