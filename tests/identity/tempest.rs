//! The calls of Tempest's dynamic credentials, in their order.

use http::Method;
use serde_json::json;
use stowage::api::route::Api;
use support::{Persona, TestApp};

use crate::{by_password, role};

#[tokio::test]
async fn a_project_with_two_users_is_made_used_and_removed() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let domains = admin.get("/domains?name=Default").await.expect(200);
    let domain = domains["domains"][0]["id"].as_str().unwrap();
    let body = json!({"project": {"name": "tempest-X-1", "description": "tempest-X-1-desc", "domain_id": domain, "is_domain": false, "parent_id": domain, "enabled": true}});
    let project = admin.post("/projects", body).await.expect(201)["project"]["id"].as_str().unwrap().to_owned();
    admin.get(&format!("/projects/{project}")).await.expect(200);
    admin.post("/roles", json!({"role": {"name": "member"}})).await.expect(409);
    let mut users = Vec::new();
    for (name, role_name) in [("tempest-X-1", "member"), ("tempest-X-2", "reader")] {
        let body = json!({"user": {"name": name, "password": "pw", "email": "x@example.com", "domain_id": domain, "project_id": project, "enabled": true, "default_project_id": project}});
        let user = admin.post("/users", body).await.expect(201)["user"]["id"].as_str().unwrap().to_owned();
        let role = role(&admin, role_name).await;
        admin.send(Method::PUT, &format!("/projects/{project}/users/{user}/roles/{role}"), None).await.expect(204);
        let token = app.anonymous(Api::Identity).post("/auth/tokens", by_password(&user, "pw", json!({"project": {"id": project}}))).await;
        assert!(token.expect(201)["token"]["catalog"].as_array().unwrap().iter().any(|s| s["type"] == "block-storage"));
        users.push(user);
    }
    for user in users {
        admin.delete(&format!("/users/{user}")).await.expect(204);
    }
    admin.delete(&format!("/projects/{project}")).await.expect(204);
}

#[tokio::test]
async fn a_domain_administrator_and_a_system_administrator_are_made() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let domain = admin.post("/domains", json!({"domain": {"name": "tempest-D", "description": "d", "enabled": true}})).await.expect(201);
    let domain = domain["domain"]["id"].as_str().unwrap().to_owned();
    let user = admin.post("/users", json!({"user": {"name": "tempest-A", "password": "pw", "domain_id": domain}})).await.expect(201);
    let user = user["user"]["id"].as_str().unwrap().to_owned();
    let role = role(&admin, "admin").await;
    admin.send(Method::PUT, &format!("/domains/{domain}/users/{user}/roles/{role}"), None).await.expect(204);
    admin.send(Method::PUT, &format!("/system/users/{user}/roles/{role}"), None).await.expect(204);
    for scope in [json!({"domain": {"id": domain}}), json!({"domain": {"name": "tempest-D"}}), json!({"system": {"all": true}})] {
        app.anonymous(Api::Identity).post("/auth/tokens", by_password(&user, "pw", scope)).await.expect(201);
    }
    admin.delete(&format!("/users/{user}")).await.expect(204);
    admin.patch(&format!("/domains/{domain}"), json!({"domain": {"enabled": false}})).await.expect(200);
    admin.delete(&format!("/domains/{domain}")).await.expect(204);
}
