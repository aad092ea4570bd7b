//! What holds for every route: URLs, tokens, microversions, bodies, faults, headers. The routes here are made for the tests
//! and served by the real dispatcher over HTTP, with the real identity behind it.

use std::{sync::Arc, time::Duration};

use http::{Method, StatusCode};
use serde_json::{Value, json};
use stowage::{
    api::{
        dispatch::{self, Options},
        page::{Page, SortKey},
        reply::Reply,
        request::ApiRequest,
        route::{Api, Handler, Route, Verb},
    },
    error::{Error, Result},
    handler,
};
use support::{Client, Persona, TestApp};

const fn row(api: Api, method: Verb, path: &'static str, handler: Handler) -> Route {
    Route::new(api, method, path, "", 200, "For a test", handler)
}

const ROWS: &[Route] = &[
    row(Api::Block, Verb::Get, "/things", handler!(list)),
    row(Api::Block, Verb::Post, "/things", handler!(mirror)),
    row(Api::Block, Verb::Get, "/things/{thing_id}", handler!(mirror)),
    row(Api::Block, Verb::Get, "/later", handler!(mirror)).since(27),
    row(Api::Block, Verb::Get, "/renamed", handler!(first)).until(9),
    row(Api::Block, Verb::Get, "/renamed", handler!(second)).since(10),
    row(Api::Block, Verb::Post, "/things/{thing_id}/action", handler!(first)).action("os-first"),
    row(Api::Block, Verb::Post, "/things/{thing_id}/action", handler!(second)).action("os-second").since(44),
    row(Api::Block, Verb::Get, "/panic", handler!(panics)),
    row(Api::Block, Verb::Get, "/slow", handler!(slow)),
    row(Api::Block, Verb::Get, "/broken", handler!(broken)),
    row(Api::Block, Verb::Get, "/over", handler!(over)),
    row(Api::Block, Verb::Get, "/open", handler!(mirror)).public(),
    row(Api::Share, Verb::Get, "/things", handler!(mirror)),
    row(Api::Share, Verb::Post, "/things", handler!(mirror)),
    row(Api::Share, Verb::Get, "/trial", handler!(mirror)).since(57).experimental(),
];

/// What the handler was given.
async fn mirror(req: ApiRequest) -> Result<Reply> {
    let seen = json!({
        "project_id": req.ctx.project_id(), "user_id": req.ctx.principal.user_id, "microversion": req.ctx.microversion, "path": req.path,
        "query": req.query, "base_url": req.base_url, "service_token": req.ctx.service_token, "body": String::from_utf8_lossy(&req.body),
        "request_id": req.ctx.request_id, "global_request_id": req.ctx.global_request_id, "experimental": req.experimental,
    });
    Reply::json(StatusCode::OK, &seen)
}
async fn list(req: ApiRequest) -> Result<Reply> {
    const KEYS: &[SortKey] = &[SortKey::new("created_at", "created_at"), SortKey::new("id", "id")];
    let page = Page::parse(&req, KEYS)?;
    let links = page.next_link(&req, "things", 2, Some("two"));
    Reply::json(StatusCode::OK, &json!({"things": [{"id": "one"}, {"id": "two"}], "things_links": links}))
}
async fn first(_: ApiRequest) -> Result<Reply> {
    Reply::json(StatusCode::OK, &"first")
}
async fn second(_: ApiRequest) -> Result<Reply> {
    Reply::json(StatusCode::OK, &"second")
}
async fn panics(_: ApiRequest) -> Result<Reply> {
    panic!("a secret: hunter2")
}
async fn slow(_: ApiRequest) -> Result<Reply> {
    std::future::pending().await
}
async fn broken(_: ApiRequest) -> Result<Reply> {
    Err(Error::internal("SELECT password FROM users"))
}
async fn over(_: ApiRequest) -> Result<Reply> {
    Err(Error::over_limit("VolumeLimitExceeded", "Maximum number of volumes allowed (0) exceeded."))
}

/// The test's routes on ports of their own.
struct Site {
    app: TestApp,
    block: String,
    share: String,
}

impl Site {
    async fn start() -> Self {
        Self::with(Options::default()).await
    }
    async fn with(options: Options) -> Self {
        let app = TestApp::without_backends().await;
        let block = serve(&app, Api::Block, options.clone()).await;
        let share = serve(&app, Api::Share, options).await;
        Self { app, block, share }
    }
    fn anonymous(&self) -> Client {
        Client::new(Api::Block, self.block.clone())
    }
    async fn member(&self) -> Client {
        self.app.client_at(Api::Block, &self.block, Persona::Member).await
    }
    async fn share(&self) -> Client {
        self.app.client_at(Api::Share, &self.share, Persona::Member).await
    }
}

async fn serve(app: &TestApp, api: Api, options: Options) -> String {
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", socket.local_addr().unwrap());
    let router = dispatch::router(Arc::clone(app.app()), api, ROWS, options);
    tokio::spawn(async move { axum::serve(socket, router).await });
    url
}

/// The project of a persona's token.
async fn project(site: &Site, persona: Persona) -> String {
    site.app.personas().await.login(persona).project_id.clone()
}

#[tokio::test]
async fn both_url_forms_are_served_and_links_keep_the_form_of_the_request() {
    let site = Site::start().await;
    let (client, project) = (site.member().await, project(&site, Persona::Member).await);
    let without = client.get("/things/x").await.expect(200);
    assert_eq!(without["base_url"], json!(format!("{}/v3", site.block)));
    let with = client.rooted_at(&format!("/v3/{project}")).get("/things/x").await.expect(200);
    assert_eq!(with["base_url"], json!(format!("{}/v3/{project}", site.block)));
    for seen in [without, with] {
        assert_eq!((&seen["path"]["thing_id"], &seen["project_id"]), (&json!("x"), &json!(project)));
    }
}

#[tokio::test]
async fn a_url_with_another_project_is_400_also_for_administrators() {
    let site = Site::start().await;
    let foreign = project(&site, Persona::Stranger).await;
    for persona in [Persona::Member, Persona::Admin] {
        let client = site.app.client_at(Api::Block, &site.block, persona).await.rooted_at(&format!("/v3/{foreign}"));
        assert_eq!(client.get("/things").await.expect(400), json!({"badRequest": {"code": 400, "message": "Malformed request url"}}));
    }
}

#[tokio::test]
async fn an_unknown_path_and_a_wrong_method_get_the_routers_404() {
    let site = Site::start().await;
    let client = site.member().await;
    let expected = json!({"message": "The resource could not be found.", "code": "404 Not Found", "title": "Not Found"});
    for (method, path) in [
        (Method::GET, "/nothing"),
        (Method::DELETE, "/things"),
        (Method::PATCH, "/things/x"),
        (Method::GET, "/things/x/y"),
        (Method::OPTIONS, "/things"),
    ] {
        let answer = client.send(method, path, None).await;
        assert_eq!(answer.expect(404), expected);
        assert!(answer.header("x-openstack-request-id").is_some() && answer.header("x-compute-request-id").is_none(), "{answer:?}");
    }
    client.rooted_at("").get("/v2/things").await.expect(404);
    client.rooted_at("").get("//v3/things").await.expect(404);
}

#[tokio::test]
async fn the_json_suffix_is_accepted() {
    let site = Site::start().await;
    let client = site.member().await;
    client.get("/things.json").await.expect(200);
    assert_eq!(client.get("/things/x.json").await.expect(200)["path"]["thing_id"], "x");
}

#[tokio::test]
async fn without_a_valid_token_known_and_unknown_paths_are_401_as_keystonemiddleware_says_it() {
    let site = Site::start().await;
    for client in [site.anonymous(), site.anonymous().with_token("not-a-token"), site.anonymous().with_token("x".repeat(5000))] {
        for path in ["/things", "/nothing"] {
            let answer = client.get(path).await;
            assert_eq!(
                answer.expect(401)["error"],
                json!({"code": 401, "title": "Unauthorized", "message": "The request you have made requires authentication."})
            );
            assert!(answer.header("www-authenticate").unwrap().starts_with("Keystone uri="));
            assert!(answer.header("x-openstack-request-id").is_some());
        }
    }
    site.anonymous().get("/open").await.expect(200);
}

#[tokio::test]
async fn a_service_token_counts_when_it_is_valid_and_has_the_role_service() {
    let site = Site::start().await;
    let client = site.member().await;
    let personas = site.app.personas().await;
    let service = personas.login(Persona::Service).token.clone();
    let reader = personas.login(Persona::Reader).token.clone();
    assert_eq!(client.get("/things/x").await.expect(200)["service_token"], false);
    assert_eq!(client.with_header("x-service-token", &service).get("/things/x").await.expect(200)["service_token"], true);
    assert_eq!(client.with_header("x-service-token", &reader).get("/things/x").await.expect(200)["service_token"], false);
    client.with_header("x-service-token", "forged").get("/things/x").await.expect(401);
}

#[tokio::test]
async fn the_version_spoken_is_echoed_with_vary_also_beside_faults() {
    let site = Site::start().await;
    let client = site.member().await;
    for (asked, path, status, echoed) in [
        (None, "/things", 200, "volume 3.0"),
        (Some("3.27"), "/later", 200, "volume 3.27"),
        (Some("latest"), "/later", 200, "volume 3.71"),
        (Some("3.26"), "/later", 404, "volume 3.26"),
        (Some("3.0"), "/things?limit=x", 400, "volume 3.0"),
        (Some("3.44"), "/broken", 500, "volume 3.44"),
    ] {
        let client = asked.map_or_else(|| client.clone(), |v| client.at(v));
        let answer = client.get(path).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.header("openstack-api-version"), Some(echoed), "{answer:?}");
        assert_eq!(answer.header("vary"), Some("OpenStack-API-Version"), "{answer:?}");
        assert_eq!(answer.header("x-compute-request-id"), answer.header("x-openstack-request-id"));
        assert!(answer.header("x-openstack-request-id").unwrap().starts_with("req-"));
    }
}

#[tokio::test]
async fn a_version_out_of_range_is_406_and_a_malformed_one_400() {
    let site = Site::start().await;
    let client = site.member().await;
    let answer = client.at("3.999").get("/things").await;
    assert_eq!(
        answer.expect(406),
        json!({"computeFault": {"code": 406, "message": "Version 3.999 is not supported by the API. Minimum is 3.0 and maximum is 3.71."}})
    );
    assert_eq!(answer.header("openstack-api-version"), Some("volume 3.999"));
    for bad in ["3.x", "3", "3.1.2", "x"] {
        assert_eq!(client.at(bad).get("/things").await.expect(400)["badRequest"]["code"], 400, "{bad}");
    }
    client.with_header("openstack-api-version", "compute 2.1").get("/things").await.expect(400);
    let both = client.with_header("openstack-api-version", "compute 2.1, volume 3.30").get("/things/x").await.expect(200);
    assert_eq!(both["microversion"], 30);
}

#[tokio::test]
async fn an_operation_outside_its_versions_does_not_exist() {
    let site = Site::start().await;
    let client = site.member().await;
    let gone = json!({"itemNotFound": {"code": 404, "message": "The resource could not be found."}});
    assert_eq!(client.at("3.26").get("/later").await.expect(404), gone);
    assert_eq!(client.get("/later").await.expect(404), gone);
    assert_eq!(client.at("3.9").get("/renamed").await.expect(200), "first");
    assert_eq!(client.at("3.10").get("/renamed").await.expect(200), "second");
}

#[tokio::test]
async fn an_action_is_found_by_its_one_key() {
    let site = Site::start().await;
    let client = site.member().await;
    let path = "/things/x/action";
    assert_eq!(client.post(path, json!({"os-first": null})).await.expect(200), "first");
    assert_eq!(client.at("3.44").post(path, json!({"os-second": {}})).await.expect(200), "second");
    client.at("3.43").post(path, json!({"os-second": {}})).await.expect(404);
    assert_eq!(client.post(path, json!({"os-third": {}})).await.fault(400), "There is no such action: os-third");
    for body in [json!({}), json!([]), json!("os-first"), json!({"os-first": {}, "os-second": {}}), json!(null)] {
        assert_eq!(client.post(path, body).await.fault(400), "Malformed request body");
    }
    assert!(client.send(Method::POST, path, None).await.fault(400).starts_with("There is no such action"));
}

#[tokio::test]
async fn bodies_are_bounded_and_typed() {
    let site = Site::start().await;
    let client = site.member().await;
    let send = |kind: Option<&'static str>, body: Vec<u8>| {
        let client = client.clone();
        async move { client.send_raw(Method::POST, "/things", kind, body).await }
    };
    for kind in ["application/json", "application/vnd.openstack.volume+json", "application/json; charset=UTF-8"] {
        assert_eq!(send(Some(kind), b"{}".to_vec()).await.expect(200)["body"], "{}");
    }
    for kind in ["text/plain", "application/xml", "application/x-www-form-urlencoded", "nonsense"] {
        let answer = send(Some(kind), b"{}".to_vec()).await;
        assert_eq!(answer.expect(415), json!({"badMediaType": {"code": 415, "message": "Unsupported Content-Type"}}));
    }
    send(Some("text/plain"), Vec::new()).await.expect(200);
    for body in ["{", "nul", "{\"a\": 1,}", "\u{feff}{}", "{}{}", "'a'"] {
        assert_eq!(send(Some("application/json"), body.into()).await.fault(400), "Malformed request body", "{body}");
    }
    assert_eq!(send(Some("application/json"), vec![0xff, 0xfe]).await.fault(400), "Malformed request body");
    let mut largest = b"{}".to_vec();
    largest.resize(114_688, b' ');
    send(Some("application/json"), largest.clone()).await.expect(200);
    largest.push(b' ');
    let refusal = send(Some("application/json"), largest).await;
    assert!(refusal.fault(413).contains("exceed"));
    assert_eq!(refusal.header("retry-after"), Some("0"));
}

#[tokio::test]
async fn quota_faults_carry_the_class_and_tell_clients_not_to_wait() {
    let site = Site::start().await;
    let answer = site.member().await.get("/over").await;
    let inside = json!({"code": 413, "message": "VolumeLimitExceeded: Maximum number of volumes allowed (0) exceeded.", "retryAfter": "0"});
    assert_eq!(answer.expect(413), json!({"overLimit": inside}));
    assert_eq!(answer.header("retry-after"), Some("0"));
}

#[tokio::test]
async fn a_panic_is_that_requests_500_and_shows_nothing() {
    let site = Site::start().await;
    let client = site.member().await;
    for path in ["/panic", "/broken"] {
        let answer = client.get(path).await;
        assert_eq!(answer.expect(500)["computeFault"]["code"], 500);
        assert!(!answer.text.contains("hunter2") && !answer.text.contains("SELECT"), "{answer:?}");
        assert!(answer.header("x-openstack-request-id").is_some());
    }
    client.get("/things").await.expect(200);
}

#[tokio::test]
async fn a_handler_past_the_deadline_is_504_in_the_apis_shape() {
    let site = Site::with(Options { deadline: Duration::from_millis(300), ..Options::default() }).await;
    let answer = site.member().await.get("/slow").await;
    assert_eq!(answer.expect(504)["computeFault"]["code"], 504);
    assert_eq!(answer.header("openstack-api-version"), Some("volume 3.0"));
}

#[tokio::test]
async fn a_clients_request_id_becomes_the_global_one_if_it_is_one() {
    let site = Site::start().await;
    let client = site.member().await;
    let id = "req-0f5f9c3c-7bdb-4c5b-9a3e-0a6c3a1d9b11";
    let answer = client.with_header("x-openstack-request-id", id).get("/things/x").await;
    assert_eq!(answer.expect(200)["global_request_id"], id);
    assert_ne!(answer.header("x-openstack-request-id"), Some(id));
    assert_eq!(answer.body()["request_id"], json!(answer.header("x-openstack-request-id")));
    let forged = client.with_header("x-openstack-request-id", "req-x; DROP").get("/things/x").await.expect(200);
    assert_eq!(forged["global_request_id"], Value::Null);
}

#[tokio::test]
async fn a_full_page_has_a_next_link_that_keeps_the_query() {
    let site = Site::start().await;
    let project = project(&site, Persona::Member).await;
    let client = site.member().await.rooted_at(&format!("/v3/{project}"));
    let page = client.get("/things?limit=2&sort=id:asc&marker=zero").await.expect(200);
    let href = page["things_links"][0]["href"].as_str().unwrap();
    assert_eq!(href, format!("{}/v3/{project}/things?limit=2&sort=id%3Aasc&marker=two", site.block));
    assert_eq!(client.get("/things?limit=3").await.expect(200)["things_links"], Value::Null);
    assert_eq!(client.get("/things?limit=-1").await.fault(400), "limit param must be positive");
}

#[tokio::test]
async fn links_start_with_the_configured_public_url() {
    let site = Site::with(Options { public_url: Some("https://cloud.example.org/volume/".into()), ..Options::default() }).await;
    assert_eq!(site.member().await.get("/things/x").await.expect(200)["base_url"], "https://cloud.example.org/volume/v3");
}

#[tokio::test]
async fn odd_urls_are_answered_not_failed() {
    let site = Site::start().await;
    let client = site.member().await;
    for (path, status) in [
        ("/things/%00", 404),
        ("/things/%ff", 404),
        ("/things/%F0%9F%A6%80", 200),
        ("/things/a%2Fb", 200),
        ("/things/%", 200),
        ("/things/x?a=%00", 400),
        ("/things/x?a=%ff", 400),
        ("/things/x?&&=&a", 200),
    ] {
        assert_eq!(client.get(path).await.status, status, "{path}");
    }
    assert_eq!(client.get("/things/a%2Fb").await.expect(200)["path"]["thing_id"], "a/b");
    client.get(&format!("/things/{}", "x".repeat(4000))).await.expect(200);
}

#[tokio::test]
async fn the_share_api_has_its_own_version_header_and_no_latest() {
    let site = Site::start().await;
    let client = site.share().await;
    let answer = client.at("2.70").get("/things").await;
    assert_eq!(answer.expect(200)["microversion"], 70);
    assert_eq!(answer.header("x-openstack-manila-api-version"), Some("2.70"));
    assert_eq!(answer.header("vary"), Some("X-OpenStack-Manila-API-Version"));
    assert!(answer.header("x-compute-request-id").is_some());
    assert_eq!(client.get("/things").await.header("x-openstack-manila-api-version"), Some("2.0"));
    client.at("latest").get("/things").await.expect(400);
    client.at("2.100").get("/things").await.expect(406);
}

#[tokio::test]
async fn an_experimental_operation_is_seen_only_by_those_who_ask() {
    let site = Site::start().await;
    let client = site.share().await.at("2.60");
    client.get("/trial").await.expect(404);
    let answer = client.with_header("x-openstack-manila-api-experimental", "true").get("/trial").await;
    assert_eq!(answer.expect(200)["experimental"], true);
    assert_eq!(answer.header("x-openstack-manila-api-experimental"), Some("True"));
    client.with_header("x-openstack-manila-api-experimental", "true").get("/things").await.expect(200);
}

#[tokio::test]
async fn the_share_api_ignores_bodies_of_other_types() {
    let site = Site::start().await;
    let answer = site.share().await.send_raw(Method::POST, "/things", Some("text/plain"), b"x".to_vec()).await;
    assert_eq!(answer.expect(200)["body"], "");
}

#[tokio::test]
async fn version_documents_and_healthcheck_are_open() {
    let app = TestApp::without_backends().await;
    for (api, id, newest, root) in [(Api::Block, "v3.0", "3.71", "/v3/"), (Api::Share, "v2.0", "2.99", "/v2/")] {
        let anonymous = app.anonymous(api).rooted_at("");
        let all = anonymous.get("/").await.expect(300);
        let one = anonymous.get(root).await.expect(200);
        assert_eq!(all, one);
        let version = &one["versions"][0];
        assert_eq!((&version["id"], &version["version"], &version["status"]), (&json!(id), &json!(newest), &json!("CURRENT")));
        assert_eq!(version["links"][1]["href"], json!(format!("{}{root}", app.url(api))));
        assert_eq!(anonymous.get("/healthcheck").await.text, "OK");
    }
}

#[tokio::test]
async fn the_openapi_document_is_served_to_everybody() {
    let app = TestApp::without_backends().await;
    let document = app.anonymous(Api::Admin).get("/openapi.json").await.expect(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    assert_eq!(document["paths"]["/v3/volumes"]["post"]["servers"][0]["url"], json!(app.url(Api::Block)));
    assert!(document["paths"]["/v3/auth/tokens"]["post"].get("security").is_none());
}
