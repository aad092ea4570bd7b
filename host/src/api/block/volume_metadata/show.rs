use std::collections::BTreeMap;

use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::volume_metadata::show::{self, etag},
};

pub async fn all(req: ApiRequest) -> Result<Reply> {
    let pairs = show::all(&req.app, &req.ctx, req.param("volume_id")).await?;
    render(&req, &pairs)
}

pub async fn one(req: ApiRequest) -> Result<Reply> {
    let key = req.param("key");
    let value = show::one(&req.app, &req.ctx, req.param("volume_id"), key).await?;
    Reply::json(StatusCode::OK, &json!({ "meta": { key: value } }))
}

/// `{"metadata": ...}`, with its tag from 3.15.
pub(super) fn render(req: &ApiRequest, pairs: &[(String, String)]) -> Result<Reply> {
    let shown: BTreeMap<_, _> = pairs.iter().map(|(k, v)| (k, v)).collect();
    let reply = Reply::json(StatusCode::OK, &json!({ "metadata": shown }))?;
    if req.ctx.microversion < 15 {
        return Ok(reply);
    }
    Ok(match HeaderValue::from_str(&format!("\"{}\"", etag(pairs))) {
        Ok(tag) => reply.header(header::ETAG, tag),
        Err(_) => reply,
    })
}
