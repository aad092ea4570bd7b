//! `/v3/domains`.

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
    service::identity::domains,
    store::sql::identity_domains::DomainPatch,
};

const fn row(method: Verb, path: &'static str, policy: &'static str, success: u16, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Identity, method, path, policy, success, summary, handler)
}

const BODY: &[(&str, &str, &str)] = &[("domain", "object", "name, description, enabled")];

pub const ROUTES: &[Route] = &[
    row(Verb::Get, "/domains", "identity:list_domains", 200, "List domains", handler!(list))
        .query(&[("name", "string", "Only the domain of this name"), ("enabled", "boolean", "Only enabled or disabled ones")]),
    row(Verb::Post, "/domains", "identity:create_domain", 201, "Create a domain", handler!(create)).body(BODY),
    row(Verb::Get, "/domains/{domain_id}", "identity:get_domain", 200, "Show a domain", handler!(show)),
    row(Verb::Patch, "/domains/{domain_id}", "identity:update_domain", 200, "Change a domain", handler!(update)).body(BODY),
    row(Verb::Delete, "/domains/{domain_id}", "identity:delete_domain", 204, "Delete a disabled domain", handler!(delete)),
];

#[derive(Deserialize)]
struct Create {
    domain: New,
}
#[derive(Deserialize)]
struct New {
    name: String,
    description: Option<String>,
    enabled: Option<bool>,
}
#[derive(Deserialize)]
struct Update {
    domain: Patch,
}
#[derive(Deserialize)]
struct Patch {
    name: Option<String>,
    description: Option<String>,
    enabled: Option<bool>,
}

async fn list(req: ApiRequest) -> Result<Reply> {
    let found = domains::list(&req.app, &req.ctx, req.query_value("name"), flag(&req, "enabled")?).await?;
    let items = found.iter().map(|d| views::domain(&req, d)).collect();
    Reply::json(StatusCode::OK, &views::collection(&req, "domains", items))
}

async fn create(req: ApiRequest) -> Result<Reply> {
    let new = req.json::<Create>()?.domain;
    let made = domains::create(&req.app, &req.ctx, &new.name, &new.description.unwrap_or_default(), new.enabled.unwrap_or(true)).await?;
    Reply::json(StatusCode::CREATED, &json!({"domain": views::domain(&req, &made)}))
}

async fn show(req: ApiRequest) -> Result<Reply> {
    let found = domains::show(&req.app, &req.ctx, req.param("domain_id")).await?;
    Reply::json(StatusCode::OK, &json!({"domain": views::domain(&req, &found)}))
}

async fn update(req: ApiRequest) -> Result<Reply> {
    let p = req.json::<Update>()?.domain;
    let patch = DomainPatch { name: p.name, description: p.description, enabled: p.enabled };
    let changed = domains::update(&req.app, &req.ctx, req.param("domain_id"), &patch).await?;
    Reply::json(StatusCode::OK, &json!({"domain": views::domain(&req, &changed)}))
}

async fn delete(req: ApiRequest) -> Result<Reply> {
    domains::delete(&req.app, &req.ctx, req.param("domain_id")).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
