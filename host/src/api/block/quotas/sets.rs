use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{
        filter::boolean,
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    quota::Usage,
    service::quota::{change, show},
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let project = req.param("project");
    let with_usage = match req.query_value("usage") {
        None => false,
        Some(text) => boolean(text).ok_or_else(|| Error::invalid(format!("Value '{text:.64}' for 'usage' is not a boolean.")))?,
    };
    let figures = show::project(&req.app, &req.ctx, project).await?;
    render(&figures, Some(project), with_usage)
}

pub async fn defaults(req: ApiRequest) -> Result<Reply> {
    let project = req.param("project");
    let figures = show::defaults(&req.app, &req.ctx, project).await?;
    render(&figures, Some(project), false)
}

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let limits = limits(&req, "quota_set")?;
    let figures = change::project(&req.app, &req.ctx, req.param("project"), &limits).await?;
    render(&figures, None, false)
}

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    change::reset(&req.app, &req.ctx, req.param("project")).await?;
    Ok(Reply::empty(StatusCode::OK))
}

fn render(figures: &[Usage], id: Option<&str>, with_usage: bool) -> Result<Reply> {
    let mut set: Map<String, Value> = id.map(|id| ("id".to_owned(), json!(id))).into_iter().collect();
    for u in figures {
        let shown = if with_usage { json!({ "limit": u.limit, "in_use": u.used, "reserved": 0, "allocated": 0 }) } else { json!(u.limit) };
        set.insert(u.resource.clone(), shown);
    }
    Reply::json(StatusCode::OK, &json!({ "quota_set": set }))
}

/// Resources and limits of a body: whole numbers from -1 up, as numbers or digits.
pub(super) fn limits(req: &ApiRequest, key: &str) -> Result<Vec<(String, i64)>> {
    let body = object(req)?;
    let members = sole_member(&body, key, &[])?;
    let mut limits = Vec::new();
    for (resource, value) in members.iter() {
        // older clients send these along; they are no limits
        if ["tenant_id", "project_id", "id", "class_name"].contains(&resource.as_str()) {
            continue;
        }
        let number = match value {
            Value::Number(n) => n.as_i64(),
            Value::String(s) => s.trim().parse().ok(),
            _ => None,
        };
        let limit = number
            .filter(|n| (-1..=i64::from(i32::MAX)).contains(n))
            .ok_or_else(|| members.refuse(resource, "is not an integer from -1 to 2147483647"))?;
        limits.push((resource.clone(), limit));
    }
    Ok(limits)
}
