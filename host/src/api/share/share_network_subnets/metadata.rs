use http::StatusCode;
use serde_json::json;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{metadata, object, one_pair},
            views,
        },
    },
    error::Result,
    service::{metadata::Manner, share_network_subnet::metadata as service},
};

pub async fn all(req: ApiRequest) -> Result<Reply> {
    views::share::metadata(&service::all(&req.app, &req.ctx, req.param("network_id"), req.param("subnet_id")).await?)
}

pub async fn one(req: ApiRequest) -> Result<Reply> {
    let key = req.param("key");
    let value = service::one(&req.app, &req.ctx, req.param("network_id"), req.param("subnet_id"), key).await?;
    Reply::json(StatusCode::OK, &json!({ "meta": { key: value } }))
}

pub async fn merge(req: ApiRequest) -> Result<Reply> {
    set(&req, Manner::Merge).await
}

pub async fn replace(req: ApiRequest) -> Result<Reply> {
    set(&req, Manner::Replace).await
}

async fn set(req: &ApiRequest, manner: Manner) -> Result<Reply> {
    let given = metadata(&object(req)?)?;
    views::share::metadata(&service::set(&req.app, &req.ctx, req.param("network_id"), req.param("subnet_id"), &given, manner).await?)
}

pub async fn set_one(req: ApiRequest) -> Result<Reply> {
    let given = one_pair(&req)?;
    service::set(&req.app, &req.ctx, req.param("network_id"), req.param("subnet_id"), &given, Manner::Merge).await?;
    views::share::metadata(&given)
}

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    service::remove(&req.app, &req.ctx, req.param("network_id"), req.param("subnet_id"), req.param("key")).await?;
    Ok(Reply::empty(StatusCode::OK))
}
