use http::StatusCode;
use serde_json::json;

use super::sets::{limits, shown};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{member, object},
    },
    error::Result,
    service::share_quota::{change, show},
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    render(&req, Some(req.param("class"))).await
}

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let limits = limits(&member(&body, "quota_class_set")?, &["class_name", "id"])?;
    change::class(&req.app, &req.ctx, req.param("class"), &limits).await?;
    render(&req, None).await
}

async fn render(req: &ApiRequest, id: Option<&str>) -> Result<Reply> {
    let figures = show::class(&req.app, &req.ctx, req.param("class")).await?;
    Reply::json(StatusCode::OK, &json!({ "quota_class_set": shown(req.ctx.microversion, &figures, id, false) }))
}
