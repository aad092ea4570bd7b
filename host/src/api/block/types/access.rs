use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::volume_type::access,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let id = req.param("type_id");
    let projects = access::list(&req.app, &req.ctx, id).await?;
    let shown: Vec<Value> = projects.into_iter().map(|p| json!({ "volume_type_id": id, "project_id": p })).collect();
    Reply::json(StatusCode::OK, &json!({ "volume_type_access": shown }))
}

pub async fn add(req: ApiRequest) -> Result<Reply> {
    let project = project(&req, "addProjectAccess")?;
    access::add(&req.app, &req.ctx, req.param("type_id"), &project).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    let project = project(&req, "removeProjectAccess")?;
    access::remove(&req.app, &req.ctx, req.param("type_id"), &project).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

fn project(req: &ApiRequest, action: &str) -> Result<String> {
    let body = object(req)?;
    let members = sole_member(&body, action, &[])?;
    members.deny_unknown(&["project"])?;
    members
        .bounded("project")?
        .filter(|p| !p.is_empty())
        .ok_or_else(|| Error::invalid("Invalid input received: 'project' is a required property"))
}
