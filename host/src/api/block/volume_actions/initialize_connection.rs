use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::attachment::older::initialize_connection,
};

pub async fn initialize_connection(req: ApiRequest) -> Result<Reply> {
    let connector = connector(&req, "os-initialize_connection")?;
    let info = initialize_connection::initialize_connection(&req.app, &req.ctx, req.param("volume_id"), connector).await?;
    Reply::json(StatusCode::OK, &json!({ "connection_info": info }))
}

/// The connector of an action that needs one.
pub(super) fn connector(req: &ApiRequest, action: &str) -> Result<Map<String, Value>> {
    let body = object(req)?;
    let members = sole_member(&body, action, &[])?;
    members.deny_unknown(&["connector"])?;
    match members.get("connector") {
        Some(Value::Object(map)) if !map.is_empty() => Ok(map.clone()),
        None | Some(Value::Null | Value::Object(_)) => Err(Error::invalid("Invalid input received: 'connector' is a required property")),
        Some(_) => Err(members.refuse("connector", "is not of type 'object'")),
    }
}
