use http::StatusCode;
use serde_json::json;

use super::show::render;
use crate::{
    api::{
        members::{sole_metadata, sole_pair},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::{metadata::Manner, snapshot_metadata::set::set},
};

pub async fn merge(req: ApiRequest) -> Result<Reply> {
    put_all(req, Manner::Merge).await
}

pub async fn replace(req: ApiRequest) -> Result<Reply> {
    put_all(req, Manner::Replace).await
}

async fn put_all(req: ApiRequest, manner: Manner) -> Result<Reply> {
    let given = sole_metadata(&req)?;
    render(&set(&req.app, &req.ctx, req.param("snapshot_id"), &given, manner).await?)
}

pub async fn one(req: ApiRequest) -> Result<Reply> {
    let (key, value) = sole_pair(&req)?;
    set(&req.app, &req.ctx, req.param("snapshot_id"), &[(key.clone(), value.clone())], Manner::Merge).await?;
    Reply::json(StatusCode::OK, &json!({ "meta": { key: value } }))
}
