//! Domains, projects, users and roles.

use http::Method;
use serde_json::{Value, json};
use stowage::api::route::Api;
use support::{Persona, TestApp};

use crate::{by_password, member, role};

fn names(list: &Value, key: &str) -> Vec<String> {
    list[key].as_array().unwrap().iter().map(|i| i["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_project_is_created_shown_changed_and_deleted() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let made = admin.post("/projects", json!({"project": {"name": "p ü", "description": "d", "domain_id": "default"}})).await.expect(201);
    let project = &made["project"];
    let id = project["id"].as_str().unwrap();
    assert!(id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()), "block URLs take hex ids only");
    assert_eq!((&project["parent_id"], &project["is_domain"], &project["enabled"]), (&json!("default"), &json!(false), &json!(true)));
    let path = format!("/projects/{id}");
    assert_eq!(admin.get(&path).await.expect(200), made);
    let changed = admin.patch(&path, json!({"project": {"name": "q"}})).await.expect(200);
    assert_eq!((&changed["project"]["name"], &changed["project"]["description"]), (&json!("q"), &json!("d")));
    assert_eq!(names(&admin.get("/projects?name=q").await.expect(200), "projects"), ["q"]);
    assert_eq!(names(&admin.get("/projects?name=p").await.expect(200), "projects"), Vec::<String>::new());
    admin.delete(&path).await.expect(204);
    assert_eq!(admin.get(&path).await.fault(404), format!("Could not find project: {id}."));
    admin.delete(&path).await.expect(404);
    admin.patch(&path, json!({"project": {"name": "r"}})).await.expect(404);
}

#[tokio::test]
async fn a_project_with_children_is_not_deleted() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let parent = admin.post("/projects", json!({"project": {"name": "parent"}})).await.expect(201)["project"]["id"].clone();
    let child = admin.post("/projects", json!({"project": {"name": "child", "parent_id": parent}})).await.expect(201)["project"].clone();
    assert_eq!(child["parent_id"], parent);
    let parent = parent.as_str().unwrap();
    admin.delete(&format!("/projects/{parent}")).await.expect(403);
    assert_eq!(names(&admin.get(&format!("/projects?parent_id={parent}")).await.expect(200), "projects"), ["child"]);
    admin.delete(&format!("/projects/{}", child["id"].as_str().unwrap())).await.expect(204);
    admin.delete(&format!("/projects/{parent}")).await.expect(204);
}

#[tokio::test]
async fn a_user_is_created_shown_changed_and_deleted_and_no_answer_shows_the_password() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let body = json!({"user": {"name": "u", "password": "hunter2", "email": "u@example.org", "description": "d"}});
    let made = admin.post("/users", body).await.expect(201);
    let path = format!("/users/{}", made["user"]["id"].as_str().unwrap());
    assert_eq!((&made["user"]["email"], &made["user"]["domain_id"]), (&json!("u@example.org"), &json!("default")));
    let changed = admin.patch(&path, json!({"user": {"name": "v", "email": null}})).await.expect(200);
    assert!(changed["user"].get("email").is_none());
    assert_eq!(names(&admin.get("/users?name=v").await.expect(200), "users"), ["v"]);
    for answer in [made, changed, admin.get("/users").await.expect(200)] {
        let text = answer.to_string();
        assert!(!text.contains("hunter2") && !text.contains("argon2"), "{text}");
    }
    admin.delete(&path).await.expect(204);
    admin.get(&path).await.expect(404);
}

#[tokio::test]
async fn a_name_that_is_taken_is_a_conflict_in_its_domain_only() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let domain = admin.post("/domains", json!({"domain": {"name": "elsewhere"}})).await.expect(201)["domain"]["id"].clone();
    for (path, kind) in [("/users", "user"), ("/projects", "project")] {
        admin.post(path, json!({kind: {"name": "same"}})).await.expect(201);
        let refusal = admin.post(path, json!({kind: {"name": "same"}})).await.fault(409);
        assert!(refusal.contains("Duplicate entry found with name same"), "{refusal}");
        admin.post(path, json!({kind: {"name": "same", "domain_id": domain}})).await.expect(201);
    }
    admin.post("/roles", json!({"role": {"name": "member"}})).await.expect(409);
    admin.post("/domains", json!({"domain": {"name": "elsewhere"}})).await.expect(409);
}

#[tokio::test]
async fn a_role_that_policy_would_take_for_another_is_refused() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    admin.post("/roles", json!({"role": {"name": "Admin"}})).await.expect(409);
    let custom = admin.post("/roles", json!({"role": {"name": "custom"}})).await.expect(201)["role"]["id"].as_str().unwrap().to_owned();
    admin.patch(&format!("/roles/{custom}"), json!({"role": {"name": "ADMIN"}})).await.expect(409);
    admin.patch(&format!("/roles/{custom}"), json!({"role": {"name": "renamed"}})).await.expect(200);
    admin.delete(&format!("/roles/{custom}")).await.expect(204);
    let reader = role(&admin, "reader").await;
    admin.delete(&format!("/roles/{reader}")).await.expect(403);
    admin.patch(&format!("/roles/{reader}"), json!({"role": {"name": "other"}})).await.expect(403);
}

#[tokio::test]
async fn a_domain_is_deleted_only_when_disabled_and_takes_its_users_and_projects_along() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let domain = admin.post("/domains", json!({"domain": {"name": "d"}})).await.expect(201)["domain"]["id"].as_str().unwrap().to_owned();
    let user = admin.post("/users", json!({"user": {"name": "u", "password": "secret", "domain_id": domain}})).await.expect(201);
    let user = user["user"]["id"].as_str().unwrap().to_owned();
    let project = admin.post("/projects", json!({"project": {"name": "p", "domain_id": domain}})).await.expect(201);
    let project = project["project"]["id"].as_str().unwrap().to_owned();
    let anonymous = app.anonymous(Api::Identity);
    anonymous.post("/auth/tokens", by_password(&user, "secret", json!(null))).await.expect(201);
    let path = format!("/domains/{domain}");
    admin.delete(&path).await.expect(403);
    admin.patch(&path, json!({"domain": {"enabled": false}})).await.expect(200);
    anonymous.post("/auth/tokens", by_password(&user, "secret", json!(null))).await.expect(401);
    admin.delete(&path).await.expect(204);
    for gone in [path, format!("/users/{user}"), format!("/projects/{project}")] {
        admin.get(&gone).await.expect(404);
    }
    admin.patch("/domains/default", json!({"domain": {"enabled": false}})).await.expect(403);
}

#[tokio::test]
async fn management_is_for_administrators_and_own_things_for_their_owner() {
    let app = TestApp::without_backends().await;
    let personas = app.personas().await;
    let (member, stranger) = (personas.login(Persona::Member).clone(), personas.login(Persona::Stranger).clone());
    let client = app.identity(Persona::Member).await;
    let mut refused = vec![
        client.get("/users").await,
        client.get("/projects").await,
        client.get("/domains").await,
        client.get("/roles").await,
        client.get("/role_assignments").await,
        client.get("/services").await,
        client.get("/endpoints").await,
        client.get(&format!("/users/{}", stranger.user_id)).await,
        client.get(&format!("/projects/{}", stranger.project_id)).await,
        client.get(&format!("/users/{}/projects", stranger.user_id)).await,
        client.post("/users", json!({"user": {"name": "x"}})).await,
        client.post("/projects", json!({"project": {"name": "x"}})).await,
        client.post("/domains", json!({"domain": {"name": "x"}})).await,
        client.post("/roles", json!({"role": {"name": "x"}})).await,
        client.patch(&format!("/users/{}", member.user_id), json!({"user": {"enabled": true}})).await,
        client.delete(&format!("/users/{}", stranger.user_id)).await,
        client.delete(&format!("/projects/{}", member.project_id)).await,
    ];
    let path = format!("/users/{}/password", stranger.user_id);
    refused.push(client.post(&path, json!({"user": {"original_password": stranger.password, "password": "mine"}})).await);
    for answer in refused {
        assert!(answer.fault(403).starts_with("Policy doesn't allow identity:"), "{answer:?}");
    }
    for own in [
        format!("/users/{}", member.user_id),
        format!("/projects/{}", member.project_id),
        format!("/users/{}/projects", member.user_id),
        format!("/role_assignments?user.id={}", member.user_id),
        "/regions".to_owned(),
        "/domains/default".to_owned(),
    ] {
        client.get(&own).await.expect(200);
    }
}

#[tokio::test]
async fn without_a_token_everything_but_log_in_and_versions_is_401() {
    let app = TestApp::without_backends().await;
    let anonymous = app.anonymous(Api::Identity);
    for route in stowage::api::routes(Api::Identity).iter().filter(|r| r.access == stowage::api::route::Access::Token) {
        let answer = anonymous.send(route.method.http(), route.path, None).await;
        assert_eq!(answer.status, 401, "{answer:?}");
        if route.method.http() != Method::HEAD {
            assert_eq!(answer.header("www-authenticate"), Some(format!("Keystone uri=\"{}/v3\"", app.url(Api::Identity)).as_str()));
        }
    }
}

#[tokio::test]
async fn bad_input_is_never_a_500() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, project) = member(&admin, "victim").await;
    let long = "ü".repeat(300);
    let bodies = [
        json!(null),
        json!([]),
        json!("text"),
        json!({}),
        json!({"user": null, "project": [], "domain": "x", "role": 7}),
        json!({"user": {}, "project": {}, "domain": {}, "role": {}}),
        json!({"user": {"name": ""}, "project": {"name": " "}, "domain": {"name": ""}, "role": {"name": ""}}),
        json!({"user": {"name": long}, "project": {"name": long}, "domain": {"name": long}, "role": {"name": long}}),
        json!({"user": {"name": 1}, "project": {"name": {}}, "domain": {"name": true}, "role": {"name": null}}),
        json!({"user": {"name": "a\u{0}b"}, "project": {"name": "a\u{0}b"}, "domain": {"name": "a\u{0}b"}, "role": {"name": "a\u{0}b"}}),
        json!({"user": {"name": "x", "enabled": "maybe"}, "project": {"name": "x", "enabled": 3}, "domain": {"name": "x", "enabled": []}, "role": {"name": "x", "description": 5}}),
        json!({"user": {"name": "x", "password": ""}, "project": {"name": "x", "parent_id": "nope"}, "domain": {"name": "\u{0}"}, "role": {"name": "\u{0}"}}),
    ];
    for path in ["/users", "/projects", "/domains", "/roles"] {
        for body in &bodies {
            let answer = admin.post(path, body.clone()).await;
            assert!([400, 404].contains(&answer.status.as_u16()), "{body} to {path}: {answer:?}");
        }
    }
    admin.post("/users", json!({"user": {"name": "x", "domain_id": "nope"}})).await.expect(404);
    for path in [format!("/users/{user}"), format!("/projects/{project}")] {
        admin.patch(&path, json!({"user": {"name": " "}, "project": {"name": " "}})).await.expect(400);
    }
    for path in [
        "/users/%00",
        "/users/%ff",
        "/users/a%2Fb",
        "/users/%F0%9F%A6%80",
        "/roles/x'; DROP TABLE roles; --",
        "/users?enabled=maybe",
        "/users?name=%00",
    ] {
        let answer = admin.get(path).await;
        assert!([400, 404].contains(&answer.status.as_u16()), "{path}: {answer:?}");
    }
    let big = vec![b' '; 114_689];
    admin.send_raw(Method::POST, "/users", Some("application/json"), big).await.expect(413);
}

#[tokio::test]
async fn services_endpoints_and_regions_come_from_the_catalog() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let services = admin.get("/services").await.expect(200);
    assert_eq!(services["services"].as_array().unwrap().len(), 5);
    let block = admin.get("/services?type=block-storage").await.expect(200)["services"][0].clone();
    let id = block["id"].as_str().unwrap();
    assert_eq!(admin.get(&format!("/services/{id}")).await.expect(200)["service"], block);
    let endpoints = admin.get(&format!("/endpoints?service_id={id}&interface=public")).await.expect(200);
    assert_eq!(endpoints["endpoints"].as_array().unwrap().len(), 1);
    let endpoint = &endpoints["endpoints"][0];
    assert_eq!(admin.get(&format!("/endpoints/{}", endpoint["id"].as_str().unwrap())).await.expect(200)["endpoint"], *endpoint);
    assert_eq!(admin.get("/regions/RegionOne").await.expect(200)["region"]["id"], "RegionOne");
    for gone in ["/services/x", "/endpoints/x", "/regions/x"] {
        admin.get(gone).await.expect(404);
    }
}
