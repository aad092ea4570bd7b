//! Tokens of a real Keystone, played here by a small server with the same answers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
    routing::get,
};
use http::StatusCode;
use serde_json::{Value, json};
use stowage::{
    api::{
        dispatch::{self, Options},
        route::Api,
    },
    config::{Bind, Config, IdentityMode, Secret},
};
use support::{Client, TestApp};

const PROJECT: &str = "0123456789abcdef0123456789abcdef";

/// What the fake Keystone does, and how often it was asked.
#[derive(Default)]
struct Play {
    logins: AtomicU32,
    validations: AtomicU32,
    /// Another status for every validation; 0 for none.
    fail_with: AtomicU16,
    /// The service's own token number that is accepted.
    own_token: AtomicU32,
    /// Log-ins, or validations, get no answer.
    logins_hang: AtomicBool,
    validations_hang: AtomicBool,
}

async fn log_in(State(play): State<Arc<Play>>, Json(body): Json<Value>) -> Response {
    play.logins.fetch_add(1, Ordering::SeqCst);
    if play.logins_hang.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    let user = &body["auth"]["identity"]["password"]["user"];
    if user["name"] != "stowage" || user["password"] != "service secret" {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let token = format!("own-{}", play.own_token.load(Ordering::SeqCst));
    (StatusCode::CREATED, [("x-subject-token", token)], Json(json!({"token": {}}))).into_response()
}

async fn validate(State(play): State<Arc<Play>>, headers: HeaderMap) -> Response {
    play.validations.fetch_add(1, Ordering::SeqCst);
    if play.validations_hang.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    if text("x-auth-token") != format!("own-{}", play.own_token.load(Ordering::SeqCst)) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if let Ok(status) = StatusCode::from_u16(play.fail_with.load(Ordering::SeqCst)) {
        return status.into_response();
    }
    let (role, expires_at) = match text("x-subject-token").as_str() {
        "member-token" => ("member", "2126-01-01T00:00:00.000000Z"),
        "admin-token" => ("admin", "2126-01-01T00:00:00.000000Z"),
        "expired-token" => ("admin", "2020-01-01T00:00:00.000000Z"),
        "nonsense-token" => return "not json".into_response(),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let domain = json!({"id": "default", "name": "Default"});
    // Keystone shows implied roles, too
    let roles = if role == "admin" { vec!["admin", "member", "reader"] } else { vec!["member", "reader"] };
    let roles: Vec<Value> = roles.into_iter().map(|name| json!({"id": format!("id-of-{name}"), "name": name})).collect();
    Json(json!({"token": {
        "methods": ["password"], "expires_at": expires_at, "issued_at": "2026-01-01T00:00:00.000000Z", "audit_ids": ["x"],
        "user": {"id": "u1", "name": "alice", "domain": domain, "password_expires_at": null},
        "project": {"id": PROJECT, "name": "p", "domain": domain}, "is_domain": false, "roles": roles,
    }}))
    .into_response()
}

/// A service whose tokens are the fake Keystone's.
async fn start() -> (TestApp, Arc<Play>) {
    start_with(|_| {}).await
}

async fn start_with(change: impl FnOnce(&mut Config)) -> (TestApp, Arc<Play>) {
    let play = Arc::new(Play::default());
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v3", socket.local_addr().unwrap());
    let router = Router::new().route("/v3/auth/tokens", get(validate).post(log_in)).with_state(Arc::clone(&play));
    tokio::spawn(async move { axum::serve(socket, router).await });
    (at(&url, change).await, play)
}

async fn at(url: &str, change: impl FnOnce(&mut Config)) -> TestApp {
    let builder = TestApp::builder().backends([]).config(|c| {
        c.identity.mode = IdentityMode::Keystone;
        c.listen.identity = Bind::OFF;
        let keystone = &mut c.identity.keystone;
        keystone.url = url.to_owned();
        keystone.username = "stowage".into();
        keystone.password = Secret::literal("service secret");
        keystone.timeout = Duration::from_secs(5);
        change(c);
    });
    builder.start().await
}

fn client(app: &TestApp, token: &str) -> Client {
    app.anonymous(Api::Block).with_token(token)
}

#[tokio::test]
async fn a_token_is_validated_once_and_then_believed() {
    let (app, play) = start().await;
    for _ in 0..5 {
        client(&app, "member-token").get("/volumes").await.expect(200);
    }
    client(&app, "member-token").rooted_at(&format!("/v3/{PROJECT}")).get("/volumes").await.expect(200);
    assert_eq!((play.logins.load(Ordering::SeqCst), play.validations.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test]
async fn roles_are_keystones() {
    let (app, _) = start().await;
    let body = json!({"volume_type": {"name": "t"}});
    client(&app, "member-token").post("/types", body.clone()).await.expect(403);
    client(&app, "admin-token").post("/types", body).await.expect(200);
}

#[tokio::test]
async fn unknown_and_expired_tokens_are_401() {
    let (app, _) = start().await;
    for token in ["no-such-token", "expired-token"] {
        let answer = client(&app, token).get("/volumes").await;
        answer.expect(401);
        assert!(answer.header("www-authenticate").is_some());
    }
}

#[tokio::test]
async fn a_keystone_that_is_down_fails_or_talks_nonsense_is_503_and_never_access() {
    let (app, play) = start().await;
    for status in [500, 502, 403, 300] {
        play.fail_with.store(status, Ordering::SeqCst);
        let answer = client(&app, "member-token").get("/volumes").await;
        assert_eq!(answer.expect(503)["serviceUnavailable"]["code"], 503, "{status}");
    }
    play.fail_with.store(0, Ordering::SeqCst);
    client(&app, "nonsense-token").get("/volumes").await.expect(503);
    client(&app, "member-token").get("/volumes").await.expect(200);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let app = at(&format!("http://{free}/v3"), |_| {}).await;
    client(&app, "member-token").get("/volumes").await.expect(503);
}

#[tokio::test]
async fn the_services_own_token_is_fetched_again_when_keystone_forgot_it() {
    let (app, play) = start().await;
    client(&app, "member-token").get("/volumes").await.expect(200);
    play.own_token.fetch_add(1, Ordering::SeqCst);
    client(&app, "admin-token").get("/volumes").await.expect(200);
    assert_eq!(play.logins.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_keystone_that_does_not_answer_is_503_for_all_who_ask_at_once() {
    // the listener's deadline is 6 s: one log-in after another would make the later ones 504
    let (app, play) = start_with(|c| {
        c.identity.keystone.timeout = Duration::from_millis(500);
        c.jobs.wait = Duration::from_secs(1);
    })
    .await;
    for hangs in [&play.logins_hang, &play.validations_hang] {
        hangs.store(true, Ordering::SeqCst);
        let asks = (0..40).map(|n| {
            let client = client(&app, &format!("token-{n}"));
            async move { client.get("/volumes").await }
        });
        for answer in futures::future::join_all(asks).await {
            assert_eq!(answer.expect(503)["serviceUnavailable"]["code"], 503);
        }
        hangs.store(false, Ordering::SeqCst);
        client(&app, "member-token").get("/volumes").await.expect(200);
    }
}

#[tokio::test]
async fn requests_that_need_the_services_own_token_share_one_log_in() {
    let (app, play) = start().await;
    let asks = (0..20).map(|n| {
        let client = client(&app, &format!("token-{n}"));
        async move { client.get("/volumes").await }
    });
    for answer in futures::future::join_all(asks).await {
        answer.expect(401);
    }
    assert_eq!((play.logins.load(Ordering::SeqCst), play.validations.load(Ordering::SeqCst)), (1, 20));
}

#[tokio::test]
async fn a_keystone_slower_than_the_listeners_deadline_is_503_too() {
    let (app, play) = start_with(|c| c.identity.keystone.timeout = Duration::from_secs(60)).await;
    play.validations_hang.store(true, Ordering::SeqCst);
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", socket.local_addr().unwrap());
    let options = Options { deadline: Duration::from_millis(400), ..Options::default() };
    let router = dispatch::router(Arc::clone(app.app()), Api::Block, &stowage::api::routes(Api::Block), options);
    tokio::spawn(async move { axum::serve(socket, router).await });
    let answer = Client::new(Api::Block, url).with_token("member-token").get("/volumes").await;
    assert_eq!(answer.expect(503)["serviceUnavailable"]["code"], 503);
}
