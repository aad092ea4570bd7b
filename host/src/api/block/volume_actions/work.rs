use http::StatusCode;

use crate::{
    api::{
        block::body::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::{
        refusal,
        volume::{self, retype::Migration},
    },
};

/// From here on an attached volume may be extended.
const EXTEND_IN_USE_SINCE: u16 = 42;

pub async fn extend(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-extend", &[])?;
    members.deny_unknown(&["new_size"])?;
    let to_gib = members.size("new_size")?.ok_or_else(|| Error::invalid("New volume size must be specified as an integer."))?;
    let online = req.ctx.microversion >= EXTEND_IN_USE_SINCE;
    volume::extend::extend(&req.app, &req.ctx, req.param("volume_id"), to_gib, online).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn retype(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-retype", &[])?;
    members.deny_unknown(&["new_type", "migration_policy"])?;
    let new_type = members.bounded("new_type")?.filter(|t| !t.is_empty()).ok_or_else(|| members.refuse("new_type", "is required"))?;
    let migration = match members.text("migration_policy")? {
        None | Some("never") => Migration::Never,
        Some("on-demand") => Migration::OnDemand,
        Some(other) => {
            return Err(refusal::invalid_input(format!("migration_policy must be 'on-demand' or 'never', passed: {other:.64}")));
        }
    };
    volume::retype::retype(&req.app, &req.ctx, req.param("volume_id"), &new_type, migration).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn revert(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "revert", &[])?;
    members.deny_unknown(&["snapshot_id"])?;
    let snapshot_id = members.uuid("snapshot_id")?.ok_or_else(|| members.refuse("snapshot_id", "is required"))?;
    volume::revert::revert(&req.app, &req.ctx, req.param("volume_id"), snapshot_id).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
