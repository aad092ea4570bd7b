use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{
        block::views::attachment,
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::attachment::update,
};

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "attachment", &[])?;
    members.deny_unknown(&["connector"])?;
    let connector = match members.get("connector") {
        Some(Value::Object(map)) if !map.is_empty() => map.clone(),
        None | Some(Value::Null | Value::Object(_)) => return Err(Error::invalid("Must specify 'connector' to update attachment.")),
        Some(_) => return Err(members.refuse("connector", "is not of type 'object'")),
    };
    let changed = update::update(&req.app, &req.ctx, req.param("attachment_id"), connector).await?;
    Reply::json(StatusCode::OK, &json!({ "attachment": attachment::detail(&changed) }))
}
