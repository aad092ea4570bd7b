use http::StatusCode;
use serde_json::json;

use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_snapshot::metadata as service,
};

pub async fn all(req: ApiRequest) -> Result<Reply> {
    views::share::metadata(&service::all(&req.app, &req.ctx, req.param("snapshot_id")).await?)
}

pub async fn one(req: ApiRequest) -> Result<Reply> {
    let key = req.param("key");
    let value = service::one(&req.app, &req.ctx, req.param("snapshot_id"), key).await?;
    Reply::json(StatusCode::OK, &json!({ "meta": { key: value } }))
}
