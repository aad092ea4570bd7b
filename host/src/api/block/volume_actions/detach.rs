use http::StatusCode;
use serde_json::Value;

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::attachment::older::detach,
};

pub async fn detach(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let attachment_id = match body.get("os-detach") {
        Some(Value::Null) => None,
        _ => {
            let members = sole_member(&body, "os-detach", &[])?;
            members.deny_unknown(&["attachment_id"])?;
            members.uuid("attachment_id")?
        }
    };
    detach::detach(&req.app, &req.ctx, req.param("volume_id"), attachment_id).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
