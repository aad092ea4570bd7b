use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{
        members::{deny_unknown, object, only_the_urls_key},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::volume_type::extra_specs,
};

pub async fn all(req: ApiRequest) -> Result<Reply> {
    let specs = extra_specs::all(&req.app, &req.ctx, req.param("type_id")).await?;
    Reply::json(StatusCode::OK, &json!({ "extra_specs": specs.into_iter().collect::<BTreeMap<_, _>>() }))
}

pub async fn one(req: ApiRequest) -> Result<Reply> {
    let key = req.param("key");
    let value = extra_specs::one(&req.app, &req.ctx, req.param("type_id"), key).await?;
    Reply::json(StatusCode::OK, &json!({ key: value }))
}

pub async fn merge(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    deny_unknown(&body, &["extra_specs"])?;
    let given = specs(body.get("extra_specs").unwrap_or(&Value::Null))?;
    extra_specs::put(&req.app, &req.ctx, req.param("type_id"), "volume_extension:types_extra_specs:create", &given).await?;
    Reply::json(StatusCode::OK, &json!({ "extra_specs": given.into_iter().collect::<BTreeMap<_, _>>() }))
}

pub async fn put(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let key = req.param("key");
    only_the_urls_key(&body, key)?;
    let given = specs(&Value::Object(body.clone()))?;
    if given.is_empty() {
        return Err(Error::invalid(format!("Invalid input for field/attribute {key:.80}. None is not of type 'string'")));
    }
    extra_specs::put(&req.app, &req.ctx, req.param("type_id"), "volume_extension:types_extra_specs:update", &given).await?;
    Reply::json(StatusCode::OK, &Value::Object(body))
}

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    extra_specs::remove(&req.app, &req.ctx, req.param("type_id"), req.param("key")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

/// The pairs of an extra-spec object. A null asks for nothing.
pub(super) fn specs(value: &Value) -> Result<Vec<(String, String)>> {
    let Value::Object(map) = value else {
        return Err(Error::invalid("Invalid input for field/attribute extra_specs. It is not of type 'object'"));
    };
    let mut pairs = Vec::with_capacity(map.len());
    for (key, value) in map {
        match value {
            Value::String(text) => pairs.push((key.clone(), text.clone())),
            Value::Null => {}
            _ => return Err(Error::invalid(format!("Invalid input for field/attribute {key:.80}. It is not of type 'string'"))),
        }
    }
    Ok(pairs)
}
