//! The built-in identity as clients see it: log-in, scopes, revocation, management, who may do what.

mod databases;
mod first_start;
mod keystone;
mod log_in;
mod management;
mod network;
mod revocation;
mod role_assignments;
mod tempest;

use serde_json::{Value, json};
use stowage::api::route::Api;
use support::{Answer, Client, Persona, TestApp};

/// The body of a password log-in by id.
pub fn by_password(user_id: &str, password: &str, scope: Value) -> Value {
    json!({"auth": {"identity": {"methods": ["password"], "password": {"user": {"id": user_id, "password": password}}}, "scope": scope}})
}

/// The body of a log-in with a token.
pub fn by_token(token: &str, scope: Value) -> Value {
    json!({"auth": {"identity": {"methods": ["token"], "token": {"id": token}}, "scope": scope}})
}

/// Logs in as a persona, for a scope.
pub async fn log_in(app: &TestApp, persona: Persona, scope: Value) -> Answer {
    let login = app.personas().await.login(persona).clone();
    app.anonymous(Api::Identity).post("/auth/tokens", by_password(&login.user_id, &login.password, scope)).await
}

/// A client of the identity API with a token just issued.
pub fn with_token(app: &TestApp, answer: &Answer) -> Client {
    app.anonymous(Api::Identity).with_token(token_of(answer))
}

pub fn token_of(answer: &Answer) -> String {
    answer.header("x-subject-token").unwrap_or_else(|| panic!("no token: {answer:?}")).to_owned()
}

/// A new user with the role `member` on a new project: (user id, project id).
pub async fn member(admin: &Client, name: &str) -> (String, String) {
    let project =
        admin.post("/projects", json!({"project": {"name": name}})).await.expect(201)["project"]["id"].as_str().unwrap().to_owned();
    let user = json!({"user": {"name": name, "password": "secret"}});
    let user = admin.post("/users", user).await.expect(201)["user"]["id"].as_str().unwrap().to_owned();
    let role = role(admin, "member").await;
    admin.send(http::Method::PUT, &format!("/projects/{project}/users/{user}/roles/{role}"), None).await.expect(204);
    (user, project)
}

pub async fn role(admin: &Client, name: &str) -> String {
    admin.get(&format!("/roles?name={name}")).await.expect(200)["roles"][0]["id"].as_str().unwrap().to_owned()
}
