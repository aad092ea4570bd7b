use http::StatusCode;
use serde_json::json;

use crate::{
    api::{
        block::views::transfer,
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::transfer::accept,
};

/// Longer than any key of ours.
const MOST_KEY: usize = 255;

pub async fn accept(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "accept", &[])?;
    members.deny_unknown(&["auth_key"])?;
    // what was sent does not stand in the refusal
    let key = members.get("auth_key").and_then(|k| k.as_str()).filter(|k| (1..=MOST_KEY).contains(&k.len()));
    let key = key.ok_or_else(|| Error::invalid("Invalid input for field/attribute auth_key: it must be a text of 1 to 255 characters."))?;
    let taken = accept::accept(&req.app, &req.ctx, req.param("transfer_id"), key).await?;
    Reply::json(StatusCode::ACCEPTED, &json!({ "transfer": transfer::summary(&req, &taken) }))
}
