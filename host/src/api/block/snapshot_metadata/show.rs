use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::json;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::snapshot_metadata::show,
};

pub async fn all(req: ApiRequest) -> Result<Reply> {
    render(&show::all(&req.app, &req.ctx, req.param("snapshot_id")).await?)
}

pub async fn one(req: ApiRequest) -> Result<Reply> {
    let key = req.param("key");
    let value = show::one(&req.app, &req.ctx, req.param("snapshot_id"), key).await?;
    Reply::json(StatusCode::OK, &json!({ "meta": { key: value } }))
}

/// `{"metadata": ...}`
pub(super) fn render(pairs: &[(String, String)]) -> Result<Reply> {
    let shown: BTreeMap<_, _> = pairs.iter().map(|(k, v)| (k, v)).collect();
    Reply::json(StatusCode::OK, &json!({ "metadata": shown }))
}
