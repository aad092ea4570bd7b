use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{action, is_uuid, object},
    },
    error::{Error, Result},
    service::share_type::access,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let id = req.param("type_id");
    let projects = access::list(&req.app, &req.ctx, id).await?;
    let shown: Vec<Value> = projects.into_iter().map(|p| json!({ "share_type_id": id, "project_id": p })).collect();
    Reply::json(StatusCode::OK, &json!({ "share_type_access": shown }))
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

pub(in crate::api::share) fn project(req: &ApiRequest) -> Result<String> {
    let body = object(req)?;
    let members = action(&body)?;
    let project = members.text("project")?.unwrap_or_default();
    if is_uuid(project) {
        return Ok(project.to_owned());
    }
    Err(Error::invalid(format!("Bad project format: project is not in proper format ({project:.64})")))
}
