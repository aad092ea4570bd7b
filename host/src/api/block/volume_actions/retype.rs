use http::StatusCode;

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::{
        refusal,
        volume::retype::{self, Migration},
    },
};

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
    retype::retype(&req.app, &req.ctx, req.param("volume_id"), &new_type, migration).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
