use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use super::create::specs;
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{object, only_the_urls_key},
    },
    error::{Error, Result},
    service::share_group_type::group_specs,
};

pub async fn all(req: ApiRequest) -> Result<Reply> {
    let found = group_specs::all(&req.app, &req.ctx, req.param("type_id")).await?;
    Reply::json(StatusCode::OK, &json!({ "group_specs": found.into_iter().collect::<BTreeMap<_, _>>() }))
}

pub async fn one(req: ApiRequest) -> Result<Reply> {
    let key = req.param("key");
    let value = group_specs::one(&req.app, &req.ctx, req.param("type_id"), key).await?;
    Reply::json(StatusCode::OK, &json!({ key: value }))
}

pub async fn merge(req: ApiRequest) -> Result<Reply> {
    const ACTION: &str = "share_group_types_spec:create";
    let id = req.param("type_id");
    group_specs::allowed(&req.app, &req.ctx, id, ACTION).await?;
    let body = object(&req)?;
    let given = match body.get("group_specs") {
        Some(Value::Object(map)) if !map.is_empty() => specs(map)?,
        _ => return Err(Error::invalid("Invalid input received: 'group_specs' must be an object that is not empty.")),
    };
    group_specs::put(&req.app, &req.ctx, id, ACTION, &given).await?;
    Reply::json(StatusCode::OK, &json!({ "group_specs": given.into_iter().collect::<BTreeMap<_, _>>() }))
}

pub async fn put(req: ApiRequest) -> Result<Reply> {
    const ACTION: &str = "share_group_types_spec:update";
    let id = req.param("type_id");
    group_specs::allowed(&req.app, &req.ctx, id, ACTION).await?;
    let body = object(&req)?;
    only_the_urls_key(&body, req.param("key"))?;
    let given = specs(&body)?;
    group_specs::put(&req.app, &req.ctx, id, ACTION, &given).await?;
    Reply::json(StatusCode::OK, &json!(given.into_iter().collect::<BTreeMap<_, _>>()))
}

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    group_specs::remove(&req.app, &req.ctx, req.param("type_id"), req.param("key")).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
