use http::{StatusCode, header};
use serde_json::json;

use super::show::render;
use crate::{
    api::{
        members::{sole_metadata, sole_pair},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::{metadata::Manner, volume_metadata::set::set},
};

pub async fn merge(req: ApiRequest) -> Result<Reply> {
    put_all(req, "volume:create_volume_metadata", Manner::Merge).await
}

pub async fn replace(req: ApiRequest) -> Result<Reply> {
    put_all(req, "volume:update_volume_metadata", Manner::Replace).await
}

async fn put_all(req: ApiRequest, action: &str, manner: Manner) -> Result<Reply> {
    let given = sole_metadata(&req)?;
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
    let (key, value) = sole_pair(&req)?;
    let pair = [(key.clone(), value.clone())];
    set(&req.app, &req.ctx, req.param("volume_id"), "volume:update_volume_metadata", &pair, Manner::Merge, None).await?;
    Reply::json(StatusCode::OK, &json!({ "meta": { key: value } }))
}
