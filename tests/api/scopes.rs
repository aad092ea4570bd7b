//! Tokens for a domain, for the system, or for nothing: block and share resources are projects'.

use http::Method;
use serde_json::{Value, json};
use stowage::api::{
    self,
    route::{Access, Api, Route, TokenScope},
};
use stowage::store::sql::types::TypeOf;
use support::{Client, Persona, TestApp};

use crate::site::{Site, create, uuid};

/// A token of the administrator, who has the role `admin` everywhere, for this scope.
async fn token(app: &TestApp, scope: Value) -> String {
    let login = app.personas().await.login(Persona::Admin).clone();
    let user = json!({ "id": login.user_id, "password": login.password });
    let body = json!({ "auth": { "identity": { "methods": ["password"], "password": { "user": user } }, "scope": scope } });
    let answer = app.anonymous(Api::Identity).post("/auth/tokens", body).await;
    answer.expect(201);
    answer.header("x-subject-token").unwrap().to_owned()
}

/// The three kinds of tokens without a project.
async fn tokens(app: &TestApp) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for (name, scope) in [
        ("system", json!({ "system": { "all": true } })),
        ("domain", json!({ "domain": { "id": "default" } })),
        ("nothing", json!("unscoped")),
    ] {
        all.push((name, token(app, scope).await));
    }
    all
}

/// A request that would succeed with the right token, as far as one can be made for every route.
struct Ask {
    method: Method,
    path: String,
    body: Option<Value>,
    version: String,
}

fn ask(row: &Route, volume: &str, volume_type: &str) -> Ask {
    let path: Vec<String> = row
        .path
        .split('/')
        .map(|segment| match segment {
            "{volume_id}" => volume.to_owned(),
            "{type_id}" => volume_type.to_owned(),
            "{class}" => "default".to_owned(),
            "{alias}" => "os-quota-sets".to_owned(),
            "{host}" => "stowage@a".to_owned(),
            s if s.starts_with('{') => uuid(),
            s => s.to_owned(),
        })
        .collect();
    let method = row.method.http();
    let body = match (row.action, row.path) {
        (Some(action), _) => json!({ action: {} }),
        (None, "/volumes") => json!({ "volume": { "size": 1 } }),
        (None, "/volumes/{volume_id}") => json!({ "volume": { "name": "taken" } }),
        (None, "/volumes/{volume_id}/metadata") => json!({ "metadata": { "k": "v" } }),
        (None, "/attachments") => json!({ "attachment": { "volume_uuid": volume } }),
        _ => json!({}),
    };
    let (major, newest) = if row.api == Api::Share { (2, 99) } else { (3, 71) };
    Ask {
        body: [Method::POST, Method::PUT].contains(&method).then_some(body),
        method,
        path: path.join("/"),
        version: format!("{major}.{}", row.until.min(newest)),
    }
}

fn routes() -> Vec<Route> {
    [Api::Block, Api::Share].into_iter().flat_map(api::routes).filter(|r| r.access == Access::Token).collect()
}

#[tokio::test]
async fn every_route_refuses_a_token_without_a_project_unless_it_is_one_for_the_system() {
    let site = Site::start().await;
    let volume = site.volume().await;
    let default = site.app.app().store.type_by_name(TypeOf::Volume, "__DEFAULT__").await.unwrap().unwrap().row.id;
    let routes = routes();
    assert!(routes.len() > 40 && routes.iter().any(|r| r.scope == TokenScope::ProjectOrSystem), "the table is not here");
    for (scope, token) in tokens(&site).await {
        for row in &routes {
            let ask = ask(row, &volume, &default);
            let client =
                site.anonymous(row.api).with_token(&token).at(&ask.version).with_header("x-openstack-manila-api-experimental", "true");
            let answer = client.send(ask.method, &ask.path, ask.body).await;
            let ours = answer.text.contains("This needs a token for a project");
            if scope == "system" && row.scope == TokenScope::ProjectOrSystem {
                assert!(!ours && ![401, 403].contains(&answer.status.as_u16()), "{answer:?}");
            } else {
                assert!(ours && answer.fault(403).contains(scope), "{answer:?}");
            }
        }
    }
    let all = site.operator().await.get("/volumes?all_tenants=1").await.expect(200);
    assert_eq!(all["volumes"].as_array().unwrap().len(), 1, "something was made for no project: {all}");
}

#[tokio::test]
async fn with_a_project_in_the_url_such_a_token_is_another_projects() {
    let site = Site::start().await;
    let project = site.personas().await.login(Persona::Member).project_id.clone();
    for (_, token) in tokens(&site).await {
        let client = site.anonymous(Api::Block).with_token(token).rooted_at(&format!("/v3/{project}"));
        assert_eq!(client.get("/volumes").await.fault(400), "Malformed request url");
        assert_eq!(client.get("/types").await.fault(400), "Malformed request url");
    }
}

#[tokio::test]
async fn an_operator_of_the_system_manages_types_services_and_quotas_without_a_project() {
    let site = Site::start().await;
    let client = site.anonymous(Api::Block).with_token(token(&site, json!({ "system": { "all": true } })).await);
    client.post("/types", json!({ "volume_type": { "name": "by-system" } })).await.expect(200);
    assert_eq!(client.get("/os-services?binary=cinder-volume").await.expect(200)["services"][0]["host"], "stowage@a");
    let member = site.member().await;
    client.put(&format!("/os-quota-sets/{}", member.project_id), json!({ "quota_set": { "volumes": 3 } })).await.expect(200);
    create(&member, json!({ "volume_type": "by-system" })).await;
}

#[tokio::test]
async fn attachments_are_read_by_those_who_may_read_volumes() {
    let site = Site::start().await;
    let volume = site.volume().await;
    let member = site.member().await.at("3.44");
    let made = member.post("/attachments", json!({ "attachment": { "volume_uuid": volume } })).await.expect(200);
    let path = format!("/attachments/{}", made["attachment"]["id"].as_str().unwrap());
    let reader = site.block(Persona::Reader).await.at("3.44");
    reader.get(&path).await.expect(200);
    assert_eq!(reader.get("/attachments").await.expect(200)["attachments"].as_array().unwrap().len(), 1);
    let service: Client = site.block(Persona::Service).await.at("3.44");
    for path in ["/attachments", "/attachments/detail"] {
        assert_eq!(service.get(path).await.status, 403, "a role that reads no volumes reads no attachments: {path}");
    }
    assert_eq!(site.block(Persona::Stranger).await.at("3.44").get(&path).await.status, 404);
}
