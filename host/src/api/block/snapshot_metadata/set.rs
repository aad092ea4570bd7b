use http::StatusCode;
use serde_json::{Value, json};

use super::show::render;
use crate::{
    api::{
        block::body::{deny_unknown, object, pairs, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::{snapshot_metadata::set::set, volume_metadata::set::Manner},
};

pub async fn merge(req: ApiRequest) -> Result<Reply> {
    put_all(req, Manner::Merge).await
}

pub async fn replace(req: ApiRequest) -> Result<Reply> {
    put_all(req, Manner::Replace).await
}

async fn put_all(req: ApiRequest, manner: Manner) -> Result<Reply> {
    let body = object(&req)?;
    deny_unknown(&body, &["metadata"])?;
    let given = match body.get("metadata") {
        Some(Value::Object(map)) => pairs("metadata", map)?,
        _ => return Err(Error::invalid("Invalid input for field/attribute metadata. An object of texts is needed.")),
    };
    render(&set(&req.app, &req.ctx, req.param("snapshot_id"), &given, manner).await?)
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
    set(&req.app, &req.ctx, req.param("snapshot_id"), &given, Manner::Merge).await?;
    Reply::json(StatusCode::OK, &json!({ "meta": { key: given[0].1 } }))
}
