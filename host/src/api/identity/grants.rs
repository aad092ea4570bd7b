//! Role assignments: `/v3/{projects,domains,system}/.../users/{user}/roles/{role}` and `/v3/role_assignments`.

use http::StatusCode;
use serde_json::{Value, json};

use super::{flag, views};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Handler, Route, Verb},
    },
    domain::identity::Scope,
    error::Result,
    handler,
    service::identity::grants::{self, Grant},
    store::sql::identity_roles::{AssignmentFilter, AssignmentRow},
};

const fn row(method: Verb, path: &'static str, policy: &'static str, success: u16, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Identity, method, path, policy, success, summary, handler)
}

const ON_PROJECT: &str = "/projects/{project_id}/users/{user_id}/roles/{role_id}";
const ON_DOMAIN: &str = "/domains/{domain_id}/users/{user_id}/roles/{role_id}";
const ON_SYSTEM: &str = "/system/users/{user_id}/roles/{role_id}";

pub const ROUTES: &[Route] = &[
    row(
        Verb::Get,
        "/projects/{project_id}/users/{user_id}/roles",
        "identity:list_grants",
        200,
        "List a user's roles on a project",
        handler!(list),
    ),
    row(Verb::Put, ON_PROJECT, "identity:create_grant", 204, "Give a user a role on a project", handler!(create)),
    row(Verb::Get, ON_PROJECT, "identity:check_grant", 204, "Check whether a user has a role on a project", handler!(check)),
    row(Verb::Head, ON_PROJECT, "identity:check_grant", 204, "Check whether a user has a role on a project", handler!(check)),
    row(Verb::Delete, ON_PROJECT, "identity:revoke_grant", 204, "Take a role on a project from a user", handler!(revoke)),
    row(
        Verb::Get,
        "/domains/{domain_id}/users/{user_id}/roles",
        "identity:list_grants",
        200,
        "List a user's roles on a domain",
        handler!(list),
    ),
    row(Verb::Put, ON_DOMAIN, "identity:create_grant", 204, "Give a user a role on a domain", handler!(create)),
    row(Verb::Get, ON_DOMAIN, "identity:check_grant", 204, "Check whether a user has a role on a domain", handler!(check)),
    row(Verb::Head, ON_DOMAIN, "identity:check_grant", 204, "Check whether a user has a role on a domain", handler!(check)),
    row(Verb::Delete, ON_DOMAIN, "identity:revoke_grant", 204, "Take a role on a domain from a user", handler!(revoke)),
    row(Verb::Get, "/system/users/{user_id}/roles", "identity:list_grants", 200, "List a user's roles on the system", handler!(list)),
    row(Verb::Put, ON_SYSTEM, "identity:create_grant", 204, "Give a user a role on the system", handler!(create)),
    row(Verb::Get, ON_SYSTEM, "identity:check_grant", 204, "Check whether a user has a role on the system", handler!(check)),
    row(Verb::Head, ON_SYSTEM, "identity:check_grant", 204, "Check whether a user has a role on the system", handler!(check)),
    row(Verb::Delete, ON_SYSTEM, "identity:revoke_grant", 204, "Take a role on the system from a user", handler!(revoke)),
    row(Verb::Get, "/role_assignments", "identity:list_role_assignments", 200, "List role assignments", handler!(assignments)).query(&[
        ("user.id", "string", "Only this user's"),
        ("role.id", "string", "Only of this role"),
        ("scope.project.id", "string", "Only on this project"),
        ("scope.domain.id", "string", "Only on this domain"),
        ("scope.system", "string", "Only on the system"),
        ("include_names", "boolean", "Show names beside ids"),
    ]),
];

fn scope(req: &ApiRequest) -> Scope {
    match (req.path.get("project_id"), req.path.get("domain_id")) {
        (Some(id), _) => Scope::Project(id.clone()),
        (None, Some(id)) => Scope::Domain(id.clone()),
        (None, None) => Scope::System,
    }
}

fn grant(req: &ApiRequest) -> Grant {
    Grant { user_id: req.param("user_id").to_owned(), scope: scope(req), role_id: req.param("role_id").to_owned() }
}

async fn list(req: ApiRequest) -> Result<Reply> {
    let found = grants::list(&req.app, &req.ctx, req.param("user_id"), &scope(&req)).await?;
    let items = found.iter().map(|r| views::role(&req, r)).collect();
    Reply::json(StatusCode::OK, &views::collection(&req, "roles", items))
}

async fn create(req: ApiRequest) -> Result<Reply> {
    grants::create(&req.app, &req.ctx, &grant(&req)).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

async fn check(req: ApiRequest) -> Result<Reply> {
    grants::check(&req.app, &req.ctx, &grant(&req)).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

async fn revoke(req: ApiRequest) -> Result<Reply> {
    grants::revoke(&req.app, &req.ctx, &grant(&req)).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

async fn assignments(req: ApiRequest) -> Result<Reply> {
    let scope = match (req.query_value("scope.project.id"), req.query_value("scope.domain.id"), req.query_value("scope.system")) {
        (Some(id), _, _) => Some(Scope::Project(id.to_owned())),
        (None, Some(id), _) => Some(Scope::Domain(id.to_owned())),
        (None, None, Some(_)) => Some(Scope::System),
        (None, None, None) => None,
    };
    let filter = AssignmentFilter { user_id: req.query_value("user.id"), role_id: req.query_value("role.id"), scope: scope.as_ref() };
    let found = grants::assignments(&req.app, &req.ctx, &filter).await?;
    // there are no groups, so a list of a group's assignments is empty
    let found = if req.query_value("group.id").is_some() { Vec::new() } else { found };
    let names = flag(&req, "include_names")? == Some(true);
    let items = found.iter().map(|a| view(&req, a, names)).collect();
    Reply::json(StatusCode::OK, &views::collection(&req, "role_assignments", items))
}

fn view(req: &ApiRequest, a: &AssignmentRow, names: bool) -> Value {
    let path = match a.scope.as_str() {
        "system" => "system".to_owned(),
        kind => format!("{kind}s/{}", a.target_id),
    };
    let link = format!("{}/{path}/users/{}/roles/{}", req.base_url, a.user_id, a.role_id);
    let (mut user, mut role, mut target) = (json!({"id": a.user_id}), json!({"id": a.role_id}), json!({"id": a.target_id}));
    if names {
        user["name"] = json!(a.user_name);
        user["domain"] = json!({"id": a.user_domain_id, "name": a.user_domain_name});
        role["name"] = json!(a.role_name);
        target["name"] = json!(a.target_name);
        if let Some(domain) = &a.target_domain_id {
            target["domain"] = json!({"id": domain, "name": a.target_domain_name});
        }
    }
    let scope = if a.scope == "system" { json!({"system": {"all": true}}) } else { json!({a.scope.as_str(): target}) };
    json!({"user": user, "role": role, "scope": scope, "links": {"assignment": link}})
}
