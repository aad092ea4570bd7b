use http::{StatusCode, header};
use serde_json::json;

use super::show::render;
use crate::{
    api::{
        block::body::{deny_unknown, object, pairs, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::volume_metadata::set::{Manner, set},
};

pub async fn merge(req: ApiRequest) -> Result<Reply> {
    put_all(req, "volume:create_volume_metadata", Manner::Merge).await
}

pub async fn replace(req: ApiRequest) -> Result<Reply> {
    put_all(req, "volume:update_volume_metadata", Manner::Replace).await
}

async fn put_all(req: ApiRequest, action: &str, manner: Manner) -> Result<Reply> {
    let body = object(&req)?;
    deny_unknown(&body, &["metadata"])?;
    let given = match body.get("metadata") {
        Some(serde_json::Value::Object(map)) => pairs("metadata", map)?,
        _ => return Err(Error::invalid("Invalid input for field/attribute metadata. An object of texts is needed.")),
    };
    let if_match = if manner == Manner::Replace && req.ctx.microversion >= 15 { if_match(&req) } else { None };
    let now = set(&req.app, &req.ctx, req.param("volume_id"), action, &given, manner, if_match.as_deref()).await?;
    render(&req, &now)
}

/// The tag without its quotes; `*` is any.
fn if_match(req: &ApiRequest) -> Option<String> {
    let text = req.headers.get(header::IF_MATCH)?.to_str().ok()?.trim();
    let tag = text.trim_start_matches("W/").trim_matches('"');
    (tag != "*").then(|| tag.to_owned())
}

pub async fn one(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "meta", &[])?;
    let key = req.param("key");
    if !members.has(key) {
        return Err(Error::invalid("Request body and URI mismatch"));
    }
    let given = members.pairs()?;
    if given.len() != 1 {
        return Err(Error::invalid("Request body contains too many items"));
    }
    set(&req.app, &req.ctx, req.param("volume_id"), "volume:update_volume_metadata", &given, Manner::Merge, None).await?;
    Reply::json(StatusCode::OK, &json!({ "meta": { key: given[0].1 } }))
}
