//! `/v3/projects` and `/v3/users/{user}/projects`.

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use super::{flag, views};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Handler, Route, Verb},
    },
    error::Result,
    handler,
    service::identity::projects::{self, NewProject},
    store::sql::identity_projects::{ProjectFilter, ProjectPatch},
};

const fn row(method: Verb, path: &'static str, policy: &'static str, success: u16, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Identity, method, path, policy, success, summary, handler)
}

const BODY: &[(&str, &str, &str)] = &[("project", "object", "name, domain_id, parent_id, description, enabled")];

pub const ROUTES: &[Route] = &[
    row(Verb::Get, "/projects", "identity:list_projects", 200, "List projects", handler!(list)).query(&[
        ("name", "string", "Only projects of this name"),
        ("domain_id", "string", "Only projects of this domain"),
        ("parent_id", "string", "Only children of this project or domain"),
        ("enabled", "boolean", "Only enabled or disabled ones"),
    ]),
    row(Verb::Post, "/projects", "identity:create_project", 201, "Create a project", handler!(create)).body(BODY),
    row(Verb::Get, "/projects/{project_id}", "identity:get_project", 200, "Show a project", handler!(show)),
    row(Verb::Patch, "/projects/{project_id}", "identity:update_project", 200, "Change a project", handler!(update)).body(BODY),
    row(Verb::Delete, "/projects/{project_id}", "identity:delete_project", 204, "Delete a project", handler!(delete)),
    row(
        Verb::Get,
        "/users/{user_id}/projects",
        "identity:list_user_projects",
        200,
        "List the projects a user has a role on",
        handler!(of_user),
    ),
];

#[derive(Deserialize)]
struct Create {
    project: New,
}
#[derive(Deserialize)]
struct New {
    name: String,
    domain_id: Option<String>,
    parent_id: Option<String>,
    description: Option<String>,
    enabled: Option<bool>,
}
#[derive(Deserialize)]
struct Update {
    project: Patch,
}
#[derive(Deserialize)]
struct Patch {
    name: Option<String>,
    description: Option<String>,
    enabled: Option<bool>,
}

async fn list(req: ApiRequest) -> Result<Reply> {
    let filter = ProjectFilter {
        name: req.query_value("name"),
        domain_id: req.query_value("domain_id"),
        parent_id: req.query_value("parent_id"),
        enabled: flag(&req, "enabled")?,
        user_id: None,
    };
    let found = projects::list(&req.app, &req.ctx, &filter).await?;
    // domains are no projects here: a client that asks for those that act as domains gets none
    let found = if flag(&req, "is_domain")? == Some(true) { Vec::new() } else { found };
    let items = found.iter().map(|p| views::project(&req, p)).collect();
    Reply::json(StatusCode::OK, &views::collection(&req, "projects", items))
}

async fn create(req: ApiRequest) -> Result<Reply> {
    let new = req.json::<Create>()?.project;
    let new = NewProject {
        name: new.name,
        domain_id: new.domain_id,
        parent_id: new.parent_id,
        description: new.description.unwrap_or_default(),
        enabled: new.enabled.unwrap_or(true),
    };
    let made = projects::create(&req.app, &req.ctx, new).await?;
    Reply::json(StatusCode::CREATED, &json!({"project": views::project(&req, &made)}))
}

async fn show(req: ApiRequest) -> Result<Reply> {
    let found = projects::show(&req.app, &req.ctx, req.param("project_id")).await?;
    Reply::json(StatusCode::OK, &json!({"project": views::project(&req, &found)}))
}

async fn update(req: ApiRequest) -> Result<Reply> {
    let p = req.json::<Update>()?.project;
    let patch = ProjectPatch { name: p.name, description: p.description, enabled: p.enabled };
    let changed = projects::update(&req.app, &req.ctx, req.param("project_id"), &patch).await?;
    Reply::json(StatusCode::OK, &json!({"project": views::project(&req, &changed)}))
}

async fn delete(req: ApiRequest) -> Result<Reply> {
    projects::delete(&req.app, &req.ctx, req.param("project_id")).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

async fn of_user(req: ApiRequest) -> Result<Reply> {
    let found = projects::of_user(&req.app, &req.ctx, req.param("user_id")).await?;
    let items = found.iter().map(|p| views::project(&req, p)).collect();
    Reply::json(StatusCode::OK, &views::collection(&req, "projects", items))
}
