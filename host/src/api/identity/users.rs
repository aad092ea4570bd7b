//! `/v3/users`.

use http::StatusCode;
use serde::{Deserialize, Deserializer};
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
    service::identity::users::{self, NewUser, UserChange},
    store::sql::identity_users::{UserFilter, UserPatch},
};

const fn row(method: Verb, path: &'static str, policy: &'static str, success: u16, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Identity, method, path, policy, success, summary, handler)
}

const BODY: &[(&str, &str, &str)] = &[("user", "object", "name, password, domain_id, default_project_id, email, description, enabled")];

pub const ROUTES: &[Route] = &[
    row(Verb::Get, "/users", "identity:list_users", 200, "List users", handler!(list)).query(&[
        ("name", "string", "Only users of this name"),
        ("domain_id", "string", "Only users of this domain"),
        ("enabled", "boolean", "Only enabled or disabled ones"),
    ]),
    row(Verb::Post, "/users", "identity:create_user", 201, "Create a user", handler!(create)).body(BODY),
    row(Verb::Get, "/users/{user_id}", "identity:get_user", 200, "Show a user", handler!(show)),
    row(Verb::Patch, "/users/{user_id}", "identity:update_user", 200, "Change a user", handler!(update)).body(BODY),
    row(Verb::Delete, "/users/{user_id}", "identity:delete_user", 204, "Delete a user", handler!(delete)),
    row(Verb::Post, "/users/{user_id}/password", "identity:change_password", 204, "Change the own password", handler!(change_password))
        .body(&[("user", "object", "original_password, password")]),
];

#[derive(Deserialize)]
struct Create {
    user: New,
}
#[derive(Deserialize)]
struct New {
    name: String,
    password: Option<String>,
    domain_id: Option<String>,
    default_project_id: Option<String>,
    email: Option<String>,
    description: Option<String>,
    enabled: Option<bool>,
}
#[derive(Deserialize)]
struct Update {
    user: Patch,
}
#[derive(Deserialize)]
struct Patch {
    name: Option<String>,
    password: Option<String>,
    description: Option<String>,
    enabled: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    email: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    default_project_id: Option<Option<String>>,
}
#[derive(Deserialize)]
struct ChangePassword {
    user: Passwords,
}
#[derive(Deserialize)]
struct Passwords {
    original_password: String,
    password: String,
}

/// Tells null from absent.
fn given<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(d).map(Some)
}

async fn list(req: ApiRequest) -> Result<Reply> {
    let filter = UserFilter { name: req.query_value("name"), domain_id: req.query_value("domain_id"), enabled: flag(&req, "enabled")? };
    let found = users::list(&req.app, &req.ctx, &filter).await?;
    let items = found.iter().map(|u| views::user(&req, u)).collect();
    Reply::json(StatusCode::OK, &views::collection(&req, "users", items))
}

async fn create(req: ApiRequest) -> Result<Reply> {
    let new = req.json::<Create>()?.user;
    let new = NewUser {
        name: new.name,
        domain_id: new.domain_id,
        description: new.description.unwrap_or_default(),
        email: new.email,
        enabled: new.enabled.unwrap_or(true),
        default_project_id: new.default_project_id,
        password: new.password,
    };
    let made = users::create(&req.app, &req.ctx, new).await?;
    Reply::json(StatusCode::CREATED, &json!({"user": views::user(&req, &made)}))
}

async fn show(req: ApiRequest) -> Result<Reply> {
    let found = users::show(&req.app, &req.ctx, req.param("user_id")).await?;
    Reply::json(StatusCode::OK, &json!({"user": views::user(&req, &found)}))
}

async fn update(req: ApiRequest) -> Result<Reply> {
    let p = req.json::<Update>()?.user;
    let patch = UserPatch {
        name: p.name,
        description: p.description,
        enabled: p.enabled,
        password_hash: None,
        email: p.email,
        default_project_id: p.default_project_id,
    };
    let changed = users::update(&req.app, &req.ctx, req.param("user_id"), UserChange { patch, password: p.password }).await?;
    Reply::json(StatusCode::OK, &json!({"user": views::user(&req, &changed)}))
}

async fn delete(req: ApiRequest) -> Result<Reply> {
    users::delete(&req.app, &req.ctx, req.param("user_id")).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

async fn change_password(req: ApiRequest) -> Result<Reply> {
    let p = req.json::<ChangePassword>()?.user;
    users::change_password(&req.app, &req.ctx, req.param("user_id"), p.original_password, p.password, req.peer).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
