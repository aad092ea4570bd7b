use http::StatusCode;
use serde_json::{Map, Value, json};

use super::sets::limits;
use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::quota::{change, show},
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    render(&req, Some(req.param("class"))).await
}

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let limits = limits(&req, "quota_class_set")?;
    change::class(&req.app, &req.ctx, req.param("class"), &limits).await?;
    render(&req, None).await
}

async fn render(req: &ApiRequest, id: Option<&str>) -> Result<Reply> {
    let figures = show::class(&req.app, &req.ctx, req.param("class")).await?;
    let mut set: Map<String, Value> = id.map(|id| ("id".to_owned(), json!(id))).into_iter().collect();
    set.extend(figures.into_iter().map(|u| (u.resource, json!(u.limit))));
    Reply::json(StatusCode::OK, &json!({ "quota_class_set": set }))
}
