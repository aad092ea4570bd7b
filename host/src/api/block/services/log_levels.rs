use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{
        members::{deny_unknown, nullable, object},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::log_level::{self, Which},
};

pub async fn set(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    deny_unknown(&body, &["binary", "server", "prefix", "level"])?;
    let level = log_level::level(nullable(&body, "level")?.unwrap_or_default())?;
    log_level::set::set(&req.app, &req.ctx, &which(&body)?, nullable(&body, "prefix")?.unwrap_or_default(), level).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn get(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    deny_unknown(&body, &["binary", "server", "prefix"])?;
    let told = log_level::get::get(&req.app, &req.ctx, &which(&body)?, nullable(&body, "prefix")?.unwrap_or_default()).await?;
    let shown: Vec<Value> = told.into_iter().map(|t| json!({ "binary": t.binary, "host": t.host, "levels": t.levels })).collect();
    Reply::json(StatusCode::OK, &json!({ "log_levels": shown }))
}

fn which(body: &Map<String, Value>) -> Result<Which> {
    Which::new(nullable(body, "binary")?, nullable(body, "server")?)
}
