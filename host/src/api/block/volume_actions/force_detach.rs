use http::StatusCode;
use serde_json::Value;

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::attachment::older::force_detach,
};

pub async fn force_detach(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-force_detach", &[])?;
    members.deny_unknown(&["attachment_id", "connector"])?;
    let attachment_id = members.text("attachment_id")?.filter(|id| !id.is_empty());
    let connector = match members.get("connector") {
        // clients send a text where they have no connector
        None | Some(Value::Null | Value::String(_)) => None,
        Some(Value::Object(map)) if map.is_empty() => None,
        Some(Value::Object(map)) => Some(map.clone()),
        Some(_) => return Err(members.refuse("connector", "is not of type 'object', 'null', 'string'")),
    };
    force_detach::force_detach(&req.app, &req.ctx, req.param("volume_id"), attachment_id, connector).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
