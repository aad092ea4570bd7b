use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{object, only_the_urls_key},
    },
    error::{Error, Result},
    service::share_type::extra_specs,
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
    const ACTION: &str = "share_types_extra_spec:create";
    let id = req.param("type_id");
    extra_specs::allowed(&req.app, &req.ctx, id, ACTION).await?;
    let body = object(&req)?;
    let given = match body.get("extra_specs") {
        Some(Value::Object(map)) if !map.is_empty() => specs(map)?,
        _ => return Err(Error::invalid("Invalid input received: 'extra_specs' must be an object that is not empty.")),
    };
    let written = extra_specs::put(&req.app, &req.ctx, id, ACTION, &given).await?;
    Reply::json(StatusCode::OK, &json!({ "extra_specs": written.into_iter().collect::<BTreeMap<_, _>>() }))
}

pub async fn put(req: ApiRequest) -> Result<Reply> {
    const ACTION: &str = "share_types_extra_spec:update";
    let (id, key) = (req.param("type_id"), req.param("key"));
    extra_specs::allowed(&req.app, &req.ctx, id, ACTION).await?;
    let body = object(&req)?;
    only_the_urls_key(&body, key)?;
    let written = extra_specs::put(&req.app, &req.ctx, id, ACTION, &specs(&body)?).await?;
    Reply::json(StatusCode::OK, &json!(written.into_iter().collect::<BTreeMap<_, _>>()))
}

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    extra_specs::remove(&req.app, &req.ctx, req.param("type_id"), req.param("key")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

/// Texts of 1 to 255 characters, and booleans as Python prints them.
fn specs(map: &Map<String, Value>) -> Result<Vec<(String, String)>> {
    map.iter()
        .map(|(key, value)| {
            let text = match value {
                Value::String(text) if (1..=255).contains(&text.chars().count()) => text.clone(),
                Value::Bool(true) => "True".to_owned(),
                Value::Bool(false) => "False".to_owned(),
                _ => {
                    return Err(Error::invalid(format!(
                        "Invalid extra_spec: the value of {key:.80} is not a text of 1 to 255 characters."
                    )));
                }
            };
            Ok((key.clone(), text))
        })
        .collect()
}
