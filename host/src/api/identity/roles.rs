//! `/v3/roles` and `/v3/role_inferences`.

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use super::views;
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Handler, Route, Verb},
    },
    error::Result,
    handler,
    service::identity::roles,
};

const fn row(method: Verb, path: &'static str, policy: &'static str, success: u16, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Identity, method, path, policy, success, summary, handler)
}

const BODY: &[(&str, &str, &str)] = &[("role", "object", "name, description")];

pub const ROUTES: &[Route] = &[
    row(Verb::Get, "/roles", "identity:list_roles", 200, "List roles", handler!(list)).query(&[(
        "name",
        "string",
        "Only the role of this name",
    )]),
    row(Verb::Post, "/roles", "identity:create_role", 201, "Create a role", handler!(create)).body(BODY),
    row(Verb::Get, "/roles/{role_id}", "identity:get_role", 200, "Show a role", handler!(show)),
    row(Verb::Patch, "/roles/{role_id}", "identity:update_role", 200, "Change a role", handler!(update)).body(BODY),
    row(Verb::Delete, "/roles/{role_id}", "identity:delete_role", 204, "Delete a role", handler!(delete)),
    row(Verb::Get, "/role_inferences", "identity:list_implied_roles", 200, "List which role brings which", handler!(inferences)),
];

#[derive(Deserialize)]
struct Create {
    role: New,
}
#[derive(Deserialize)]
struct New {
    name: String,
    description: Option<String>,
}
#[derive(Deserialize)]
struct Update {
    role: Patch,
}
#[derive(Deserialize)]
struct Patch {
    name: Option<String>,
    description: Option<String>,
}

async fn list(req: ApiRequest) -> Result<Reply> {
    let found = roles::list(&req.app, &req.ctx, req.query_value("name")).await?;
    let items = found.iter().map(|r| views::role(&req, r)).collect();
    Reply::json(StatusCode::OK, &views::collection(&req, "roles", items))
}

async fn create(req: ApiRequest) -> Result<Reply> {
    let new = req.json::<Create>()?.role;
    let made = roles::create(&req.app, &req.ctx, &new.name, &new.description.unwrap_or_default()).await?;
    Reply::json(StatusCode::CREATED, &json!({"role": views::role(&req, &made)}))
}

async fn show(req: ApiRequest) -> Result<Reply> {
    let found = roles::show(&req.app, &req.ctx, req.param("role_id")).await?;
    Reply::json(StatusCode::OK, &json!({"role": views::role(&req, &found)}))
}

async fn update(req: ApiRequest) -> Result<Reply> {
    let p = req.json::<Update>()?.role;
    let changed = roles::update(&req.app, &req.ctx, req.param("role_id"), p.name.as_deref(), p.description.as_deref()).await?;
    Reply::json(StatusCode::OK, &json!({"role": views::role(&req, &changed)}))
}

async fn delete(req: ApiRequest) -> Result<Reply> {
    roles::delete(&req.app, &req.ctx, req.param("role_id")).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

async fn inferences(req: ApiRequest) -> Result<Reply> {
    let found = roles::implications(&req.app, &req.ctx).await?;
    let brief = |r: &crate::store::sql::identity_roles::RoleRow| json!({"id": r.id, "name": r.name, "description": r.description, "links": {"self": format!("{}/roles/{}", req.base_url, r.id)}});
    let rules: Vec<_> = found
        .iter()
        .map(|(prior, implies)| json!({"prior_role": brief(prior), "implies": implies.iter().map(brief).collect::<Vec<_>>()}))
        .collect();
    Reply::json(StatusCode::OK, &json!({"role_inferences": rules, "links": {"self": format!("{}/role_inferences", req.base_url)}}))
}
