use serde_json::json;
use stowage::api::route::Api;
use support::{Persona, TestApp};

use crate::{by_password, by_token, log_in, member, token_of, with_token};

#[tokio::test]
async fn a_project_token_has_roles_catalog_and_keystones_time_format() {
    let app = TestApp::without_backends().await;
    let project = app.personas().await.login(Persona::Member).project_id.clone();
    let answer = log_in(&app, Persona::Member, json!({"project": {"id": project}})).await;
    let token = &answer.expect(201)["token"];
    assert_eq!(token["project"]["id"], json!(project));
    assert_eq!(token["project"]["domain"], json!({"id": "default", "name": "Default"}));
    assert_eq!(token["methods"], json!(["password"]));
    assert_eq!(token["roles"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect::<Vec<_>>(), ["member", "reader"]);
    for time in ["issued_at", "expires_at"] {
        let text = token[time].as_str().unwrap();
        assert!(text.len() == 27 && text.ends_with('Z') && text.contains('.'), "{text}");
    }
    assert_eq!(answer.header("vary"), Some("X-Auth-Token"));
    let kinds: Vec<_> = token["catalog"].as_array().unwrap().iter().map(|s| s["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["identity", "block-storage", "volumev3", "shared-file-system", "sharev2"]);
    let block = &token["catalog"][1]["endpoints"];
    assert_eq!(block[0]["url"], json!(format!("{}/v3/{project}", app.url(Api::Block))));
    let interfaces: Vec<_> = block.as_array().unwrap().iter().map(|e| e["interface"].as_str().unwrap()).collect();
    assert_eq!(interfaces, ["public", "internal", "admin"]);
}

#[tokio::test]
async fn every_form_of_naming_user_and_project_logs_in() {
    let app = TestApp::without_backends().await;
    let login = app.personas().await.login(Persona::Member).clone();
    let users = [
        json!({"id": login.user_id}),
        json!({"name": login.user_name, "domain": {"id": "default"}}),
        json!({"name": login.user_name, "domain": {"name": "Default"}}),
    ];
    let projects = [
        json!({"id": login.project_id}),
        json!({"name": "one", "domain": {"name": "Default"}}),
        json!({"name": "one", "domain": {"id": "default"}}),
    ];
    for mut user in users {
        user["password"] = json!(login.password);
        for project in &projects {
            let body = json!({"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": {"project": project}}});
            let token = app.anonymous(Api::Identity).post("/auth/tokens", body).await.expect(201);
            assert_eq!(token["token"]["project"]["id"], json!(login.project_id));
        }
    }
}

#[tokio::test]
async fn an_unscoped_token_shows_neither_roles_nor_catalog() {
    let app = TestApp::without_backends().await;
    for scope in [json!(null), json!("unscoped"), json!({"unscoped": {}})] {
        let token = log_in(&app, Persona::Member, scope).await.expect(201);
        assert!(
            token["token"].get("roles").is_none() && token["token"].get("catalog").is_none() && token["token"].get("project").is_none()
        );
    }
}

#[tokio::test]
async fn an_unscoped_token_is_exchanged_for_a_scoped_one_that_does_not_outlive_it() {
    let app = TestApp::without_backends().await;
    let project = app.personas().await.login(Persona::Member).project_id.clone();
    let first = log_in(&app, Persona::Member, json!("unscoped")).await;
    let second = app.anonymous(Api::Identity).post("/auth/tokens", by_token(&token_of(&first), json!({"project": {"id": project}}))).await;
    let (a, b) = (&first.expect(201)["token"], &second.expect(201)["token"]);
    assert_eq!(b["expires_at"], a["expires_at"]);
    assert_eq!(b["methods"], json!(["token", "password"]));
    assert_eq!(b["audit_ids"][1], a["audit_ids"][0]);
    assert_ne!(token_of(&first), token_of(&second));
}

#[tokio::test]
async fn domain_and_system_scopes_are_for_those_with_a_role_there() {
    let app = TestApp::without_backends().await;
    let domain = log_in(&app, Persona::Admin, json!({"domain": {"id": "default"}})).await.expect(201);
    assert_eq!(domain["token"]["domain"]["name"], "Default");
    let system = log_in(&app, Persona::Admin, json!({"system": {"all": true}})).await.expect(201);
    assert_eq!(system["token"]["system"], json!({"all": true}));
    log_in(&app, Persona::Member, json!({"system": {"all": true}})).await.expect(401);
    log_in(&app, Persona::Member, json!({"domain": {"id": "default"}})).await.expect(401);
}

#[tokio::test]
async fn without_a_scope_the_default_project_is_taken_if_there_is_a_role_on_it() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, project) = member(&admin, "defaulting").await;
    admin.patch(&format!("/users/{user}"), json!({"user": {"default_project_id": project}})).await.expect(200);
    let anonymous = app.anonymous(Api::Identity);
    let token = anonymous.post("/auth/tokens", by_password(&user, "secret", json!(null))).await.expect(201);
    assert_eq!(token["token"]["project"]["id"], json!(project));
    let elsewhere = app.personas().await.login(Persona::Stranger).project_id.clone();
    admin.patch(&format!("/users/{user}"), json!({"user": {"default_project_id": elsewhere}})).await.expect(200);
    let token = anonymous.post("/auth/tokens", by_password(&user, "secret", json!(null))).await.expect(201);
    assert!(token["token"].get("project").is_none());
}

#[tokio::test]
async fn every_reason_for_a_refusal_reads_the_same() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, project) = member(&admin, "refused").await;
    let foreign = app.personas().await.login(Persona::Stranger).project_id.clone();
    let (disabled, _) = member(&admin, "disabled").await;
    admin.patch(&format!("/users/{disabled}"), json!({"user": {"enabled": false}})).await.expect(200);
    let anonymous = app.anonymous(Api::Identity);
    let attempts = [
        by_password(&user, "wrong", json!({"project": {"id": project}})),
        by_password("nobody", "secret", json!({"project": {"id": project}})),
        by_password(&disabled, "secret", json!(null)),
        by_password(&user, "secret", json!({"project": {"id": foreign}})),
        by_password(&user, "secret", json!({"project": {"id": "no-such-project"}})),
        by_password(&user, "secret", json!({"project": {"name": "x", "domain": {"name": "no such domain"}}})),
        by_token("no-such-token", json!({"project": {"id": project}})),
    ];
    let expected =
        json!({"error": {"code": 401, "title": "Unauthorized", "message": "The request you have made requires authentication."}});
    for body in attempts {
        let answer = anonymous.post("/auth/tokens", body.clone()).await;
        assert_eq!(answer.expect(401), expected, "{body}");
        assert!(answer.header("x-openstack-request-id").is_some());
        assert!(answer.header("x-subject-token").is_none());
    }
}

#[tokio::test]
async fn a_malformed_log_in_is_400_and_an_unknown_method_401() {
    let app = TestApp::without_backends().await;
    let anonymous = app.anonymous(Api::Identity);
    let identity = json!({"methods": ["password"], "password": {"user": {"id": "x", "password": "y"}}});
    let bodies = [
        json!({}),
        json!([]),
        json!({"auth": null}),
        json!({"auth": {}}),
        json!({"auth": {"identity": {"methods": []}}}),
        json!({"auth": {"identity": {"methods": ["password"]}}}),
        json!({"auth": {"identity": {"methods": ["token"]}}}),
        json!({"auth": {"identity": {"methods": ["password"], "password": {"user": {"password": "x"}}}}}),
        json!({"auth": {"identity": {"methods": ["password"], "password": {"user": {"name": "admin", "password": "x"}}}}}),
        json!({"auth": {"identity": {"methods": ["password"], "password": {"user": {"id": 7, "password": "x"}}}}}),
        json!({"auth": {"identity": identity, "scope": {}}}),
        json!({"auth": {"identity": identity, "scope": "galaxy"}}),
        json!({"auth": {"identity": identity, "scope": {"galaxy": {}}}}),
        json!({"auth": {"identity": identity, "scope": {"project": {}}}}),
        json!({"auth": {"identity": identity, "scope": {"project": {"name": "x"}}}}),
        json!({"auth": {"identity": identity, "scope": {"system": {}}}}),
        json!({"auth": {"identity": identity, "scope": {"project": {"id": "x"}, "domain": {"id": "y"}}}}),
    ];
    for body in bodies {
        let answer = anonymous.post("/auth/tokens", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
    }
    anonymous.post("/auth/tokens", json!({"auth": {"identity": {"methods": ["totp"]}}})).await.expect(401);
}

#[tokio::test]
async fn failed_log_ins_are_limited_and_the_right_password_then_waits_too() {
    let app = TestApp::builder().backends([]).config(|c| c.identity.max_failed_logins = 3).start().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, _) = member(&admin, "guessed").await;
    let anonymous = app.anonymous(Api::Identity);
    for _ in 0..3 {
        anonymous.post("/auth/tokens", by_password(&user, "wrong", json!(null))).await.expect(401);
    }
    let refusal = anonymous.post("/auth/tokens", by_password(&user, "secret", json!(null))).await.fault(429);
    assert!(refusal.contains("Too many failed log-ins"), "{refusal}");
    log_in(&app, Persona::Member, json!(null)).await.expect(201);
}

/// A log-in by name, with the name as it was made.
fn by_name(name: &str, password: &str) -> serde_json::Value {
    let user = json!({"name": name, "domain": {"name": "Default"}, "password": password});
    json!({"auth": {"identity": {"methods": ["password"], "password": {"user": user}}}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guesses_at_the_same_time_by_id_and_by_name_do_not_pass_the_limit_together() {
    let app = TestApp::builder().backends([]).config(|c| c.identity.max_failed_logins = 3).start().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, _) = member(&admin, "guessed").await;
    let guesses = (0..40).map(|n| {
        let (client, user) = (app.anonymous(Api::Identity), user.clone());
        tokio::spawn(async move {
            let body = if n % 2 == 0 { by_password(&user, "wrong", json!(null)) } else { by_name("guessed", "wrong") };
            client.post("/auth/tokens", body).await.status.as_u16()
        })
    });
    let mut checked = 0;
    for guess in guesses.collect::<Vec<_>>() {
        let status = guess.await.unwrap();
        assert!([401, 429].contains(&status), "{status}");
        checked += u32::from(status == 401);
    }
    assert_eq!(checked, 3, "a 401 is a guess that was checked");
    for right in [by_password(&user, "secret", json!(null)), by_name("guessed", "secret")] {
        app.anonymous(Api::Identity).post("/auth/tokens", right).await.fault(429);
    }
}

#[tokio::test]
async fn names_that_nobody_has_are_limited_as_those_of_users_are() {
    let app = TestApp::builder().backends([]).config(|c| c.identity.max_failed_logins = 2).start().await;
    let anonymous = app.anonymous(Api::Identity);
    for nobody in [by_name("nobody", "x"), by_password("no-such-id", "x", json!(null))] {
        for _ in 0..2 {
            anonymous.post("/auth/tokens", nobody.clone()).await.expect(401);
        }
        anonymous.post("/auth/tokens", nobody).await.fault(429);
    }
}

#[tokio::test]
async fn a_wrong_old_password_counts_as_a_failed_log_in() {
    let app = TestApp::builder().backends([]).config(|c| c.identity.max_failed_logins = 2).start().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, _) = member(&admin, "changing").await;
    let own = with_token(&app, &app.anonymous(Api::Identity).post("/auth/tokens", by_password(&user, "secret", json!(null))).await);
    let change = json!({"user": {"original_password": "wrong", "password": "newer"}});
    for _ in 0..2 {
        own.post(&format!("/users/{user}/password"), change.clone()).await.expect(401);
    }
    own.post(&format!("/users/{user}/password"), change).await.fault(429);
    app.anonymous(Api::Identity).post("/auth/tokens", by_password(&user, "secret", json!(null))).await.fault(429);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn right_passwords_at_the_same_time_are_not_held_up() {
    let app = TestApp::builder().backends([]).config(|c| c.identity.max_failed_logins = 2).start().await;
    let login = app.personas().await.login(Persona::Member).clone();
    let log_ins = (0..20).map(|_| {
        let (client, login) = (app.anonymous(Api::Identity), login.clone());
        tokio::spawn(async move { client.post("/auth/tokens", by_password(&login.user_id, &login.password, json!(null))).await })
    });
    for log_in in log_ins.collect::<Vec<_>>() {
        log_in.await.unwrap().expect(201);
    }
}

#[tokio::test]
async fn successful_log_ins_are_not_limited() {
    let app = TestApp::builder().backends([]).config(|c| c.identity.max_failed_logins = 2).start().await;
    for _ in 0..10 {
        log_in(&app, Persona::Member, json!(null)).await.expect(201);
    }
}

#[tokio::test]
async fn what_the_caller_may_have_a_token_for_is_listed() {
    let app = TestApp::without_backends().await;
    let unscoped = with_token(&app, &log_in(&app, Persona::Member, json!("unscoped")).await);
    let projects = unscoped.get("/auth/projects").await.expect(200);
    assert_eq!(projects["projects"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect::<Vec<_>>(), ["one"]);
    assert_eq!(unscoped.get("/auth/domains").await.expect(200)["domains"], json!([]));
    assert_eq!(unscoped.get("/auth/system").await.expect(200)["system"], json!([]));
    let admin = app.identity(Persona::Admin).await;
    assert_eq!(admin.get("/auth/domains").await.expect(200)["domains"][0]["id"], "default");
    assert_eq!(admin.get("/auth/system").await.expect(200)["system"], json!([{"all": true}]));
    assert_eq!(admin.get("/auth/catalog").await.expect(200)["catalog"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn version_documents_are_open() {
    let app = TestApp::without_backends().await;
    let anonymous = app.anonymous(Api::Identity);
    let root = anonymous.rooted_at("").get("/").await.expect(300);
    assert_eq!(root["versions"]["values"][0]["id"], "v3.14");
    for path in ["", "/"] {
        let version = anonymous.get(path).await.expect(200);
        assert_eq!(version["version"]["links"][0]["href"], json!(format!("{}/v3/", app.url(Api::Identity))));
    }
}
