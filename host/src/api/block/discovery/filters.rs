use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    config::filters::DEFAULT,
    error::Result,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let wanted = req.query_value("resource");
    let config = req.app.config.get();
    let shown: Vec<Value> = DEFAULT
        .iter()
        .filter(|(resource, _)| wanted.is_none_or(|w| w == *resource))
        .map(|(resource, _)| json!({ "resource": resource, "filters": config.block.filters_of(resource) }))
        .collect();
    Reply::json(StatusCode::OK, &json!({ "resource_filters": shown }))
}
