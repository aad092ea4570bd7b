use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest, share::types::access::project},
    error::Result,
    service::share_group_type::access,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let id = req.param("type_id");
    let projects = access::list(&req.app, &req.ctx, id).await?;
    let shown: Vec<Value> = projects.into_iter().map(|p| json!({ "share_group_type_id": id, "project_id": p })).collect();
    Reply::json(StatusCode::OK, &json!({ "share_group_type_access": shown }))
}

pub async fn add(req: ApiRequest) -> Result<Reply> {
    let project = project(&req)?;
    access::add(&req.app, &req.ctx, req.param("type_id"), &project).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    let project = project(&req)?;
    access::remove(&req.app, &req.ctx, req.param("type_id"), &project).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
