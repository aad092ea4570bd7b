//! What ends a token, and that it ends at once.

use http::Method;
use serde_json::json;
use stowage::api::route::Api;
use support::{Client, Persona, TestApp};

use crate::{by_password, member, role, token_of};

/// A fresh member, and a client with their token that has just been used (so that it is cached).
async fn used_token(app: &TestApp, admin: &Client, name: &str) -> (String, String, Client) {
    let (user, project) = member(admin, name).await;
    let answer = app.anonymous(Api::Identity).post("/auth/tokens", by_password(&user, "secret", json!({"project": {"id": project}}))).await;
    answer.expect(201);
    let client = app.anonymous(Api::Identity).with_token(token_of(&answer));
    client.get("/auth/projects").await.expect(200);
    (user, project, client)
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once_by_every_api() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (_, _, client) = used_token(&app, &admin, "u").await;
    client.with_header("x-subject-token", client.token()).delete("/auth/tokens").await.expect(204);
    client.get("/auth/projects").await.expect(401);
    app.anonymous(Api::Block).with_token(client.token()).get("/volumes").await.expect(401);
    admin.with_header("x-subject-token", client.token()).get("/auth/tokens").await.expect(404);
}

#[tokio::test]
async fn a_new_password_ends_all_tokens_of_the_user() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, project, client) = used_token(&app, &admin, "u").await;
    let path = format!("/users/{user}/password");
    client.post(&path, json!({"user": {"original_password": "wrong", "password": "new"}})).await.expect(401);
    client.post(&path, json!({"user": {"original_password": "secret", "password": "new"}})).await.expect(204);
    client.get("/auth/projects").await.expect(401);
    let scope = json!({"project": {"id": project}});
    app.anonymous(Api::Identity).post("/auth/tokens", by_password(&user, "secret", scope.clone())).await.expect(401);
    app.anonymous(Api::Identity).post("/auth/tokens", by_password(&user, "new", scope)).await.expect(201);
}

#[tokio::test]
async fn an_administrator_may_set_a_password_and_that_ends_tokens_too() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, _, client) = used_token(&app, &admin, "u").await;
    admin.patch(&format!("/users/{user}"), json!({"user": {"password": "set"}})).await.expect(200);
    client.get("/auth/projects").await.expect(401);
}

#[tokio::test]
async fn disabling_and_deleting_users_and_projects_ends_tokens_for_good() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, _, client) = used_token(&app, &admin, "a").await;
    admin.patch(&format!("/users/{user}"), json!({"user": {"enabled": false}})).await.expect(200);
    client.get("/auth/projects").await.expect(401);
    admin.patch(&format!("/users/{user}"), json!({"user": {"enabled": true}})).await.expect(200);
    client.get("/auth/projects").await.expect(401);

    let (_, project, client) = used_token(&app, &admin, "b").await;
    admin.patch(&format!("/projects/{project}"), json!({"project": {"enabled": false}})).await.expect(200);
    client.get("/auth/projects").await.expect(401);

    let (user, _, client) = used_token(&app, &admin, "c").await;
    admin.delete(&format!("/users/{user}")).await.expect(204);
    client.get("/auth/projects").await.expect(401);

    let (_, project, client) = used_token(&app, &admin, "d").await;
    admin.delete(&format!("/projects/{project}")).await.expect(204);
    client.get("/auth/projects").await.expect(401);
}

#[tokio::test]
async fn a_role_that_is_taken_away_is_gone_from_tokens_already_issued() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, project, client) = used_token(&app, &admin, "u").await;
    let (member, reader) = (role(&admin, "member").await, role(&admin, "reader").await);
    let path = |role: &str| format!("/projects/{project}/users/{user}/roles/{role}");
    admin.send(Method::PUT, &path(&reader), None).await.expect(204);
    admin.delete(&path(&member)).await.expect(204);
    let shown = client.with_header("x-subject-token", client.token()).get("/auth/tokens").await.expect(200);
    assert_eq!(shown["token"]["roles"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect::<Vec<_>>(), ["reader"]);
    admin.delete(&path(&reader)).await.expect(204);
    client.get("/auth/projects").await.expect(401);
}

#[tokio::test]
async fn a_token_expires() {
    let app = TestApp::builder().backends([]).config(|c| c.identity.token_ttl = std::time::Duration::from_secs(2)).start().await;
    let anonymous = app.anonymous(Api::Identity);
    let clouds = std::fs::read_to_string(app.app().config.get().clouds_yaml()).unwrap();
    let password = clouds.lines().find_map(|l| l.trim().strip_prefix("password: ")).unwrap().trim_matches('"').to_owned();
    let user = json!({"name": "admin", "domain": {"id": "default"}, "password": password});
    let answer = anonymous.post("/auth/tokens", json!({"auth": {"identity": {"methods": ["password"], "password": {"user": user}}}})).await;
    answer.expect(201);
    let client = anonymous.with_token(token_of(&answer));
    client.get("/auth/projects").await.expect(200);
    client.until("/auth/projects", |a| a.status == 401).await;
    let purged = app.app().identity.as_ref().unwrap().purge_expired().await.unwrap();
    assert!(purged >= 1);
}

#[tokio::test]
async fn others_tokens_are_shown_to_administrators_and_services_only() {
    let app = TestApp::without_backends().await;
    let personas = app.personas().await;
    let subject = personas.login(Persona::Member).token.clone();
    for (persona, status) in
        [(Persona::Admin, 200), (Persona::Service, 200), (Persona::Member, 200), (Persona::Stranger, 403), (Persona::Reader, 403)]
    {
        let client = app.identity(persona).await.with_header("x-subject-token", &subject);
        client.get("/auth/tokens").await.expect(status);
        assert_eq!(client.send(Method::HEAD, "/auth/tokens", None).await.status, status);
    }
    let stranger = app.identity(Persona::Stranger).await;
    stranger.with_header("x-subject-token", "no-such-token").get("/auth/tokens").await.expect(403);
    stranger.with_header("x-subject-token", &subject).delete("/auth/tokens").await.expect(403);
    stranger.get("/auth/tokens").await.expect(400);
}
