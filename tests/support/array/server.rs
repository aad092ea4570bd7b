//! The array's HTTP side: `/v1` for the driver, `/control` for the test.
//!
//! | call | does |
//! |---|---|
//! | `POST /v1/session` | logs in (any password), answers `{"token"}`; the other calls need it as a bearer token |
//! | `GET /v1/used` | GiB taken, by pool |
//! | `GET /v1/objects/{kind}?prefix=` | `{"objects": [{"id", ...}]}` |
//! | `GET`, `DELETE /v1/objects/{kind}/{id}` | one object |
//! | `PUT /v1/objects/{kind}/{id}` | creates (`If-None-Match: *`) or changes (`If-Match: VERSION`) |
//!
//! Refusals: 401 no token, 404 absent, 409 exists or changed meanwhile, 412 older generation, 507 pool full.

use std::{
    collections::HashSet,
    convert::Infallible,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::{Path, Query, Request, State},
    http::{HeaderMap, Method, Response, StatusCode},
    response::IntoResponse,
    routing::{get, post, put},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};
use tower::ServiceExt as _;

use super::{
    Action, Call, Fault, Object,
    faults::take,
    state::{self, Expect, Refusal},
};

/// What the server's tasks share.
#[derive(Clone)]
pub struct Shared(Arc<Inner>);

struct Inner {
    state: Mutex<state::State>,
    faults: Mutex<Vec<Fault>>,
    tokens: Mutex<HashSet<String>>,
    /// Counts releases; a held call waits until it grows past the number it saw.
    released: watch::Sender<u64>,
    held: watch::Sender<usize>,
}

/// Marks a response whose connection is to be closed instead of answered.
#[derive(Clone)]
struct Dropped;

impl Shared {
    pub fn new(file: Option<PathBuf>) -> anyhow::Result<Self> {
        Ok(Self(Arc::new(Inner {
            state: Mutex::new(state::State::open(file)?),
            faults: Mutex::default(),
            tokens: Mutex::default(),
            released: watch::Sender::new(0),
            held: watch::Sender::new(0),
        })))
    }
    fn state(&self) -> MutexGuard<'_, state::State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn faults(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.0.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn tokens(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
    async fn hold(&self) {
        let mut released = self.0.released.subscribe();
        let seen = *released.borrow_and_update();
        self.0.held.send_modify(|n| *n += 1);
        let _ = released.wait_for(|n| *n > seen).await;
        self.0.held.send_modify(|n| *n -= 1);
    }
}

/// Serves until the task is aborted.
pub async fn serve(listener: TcpListener, shared: Shared) {
    let router = router(shared);
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let router = router.clone();
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
                let router = router.clone();
                async move {
                    let Ok(response) = router.oneshot(request.map(Body::new)).await as Result<Response<Body>, Infallible>;
                    // An error of the service makes hyper close the connection: the caller never learns what was done.
                    if response.extensions().get::<Dropped>().is_some() { Err("dropped by the test") } else { Ok(response) }
                }
            });
            let _ =
                hyper_util::server::conn::auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn router(shared: Shared) -> Router {
    Router::new()
        .route("/v1/session", post(log_in))
        .route("/v1/used", get(used))
        .route("/v1/objects/{kind}", get(list))
        .route("/v1/objects/{kind}/{id}", put(object).get(object).delete(object))
        .route("/control/calls", get(calls))
        .route("/control/objects", get(objects))
        .route("/control/objects/{kind}", axum::routing::delete(lose))
        .route("/control/faults", post(add_fault).delete(clear_faults))
        .route("/control/held", get(held))
        .route("/control/release", post(release))
        .route("/control/expire-sessions", post(expire))
        .with_state(shared)
}

async fn log_in(State(shared): State<Shared>) -> impl IntoResponse {
    let token = uuid::Uuid::new_v4().to_string();
    shared.tokens().insert(token.clone());
    (StatusCode::CREATED, Json(json!({ "token": token })))
}

fn logged_in(shared: &Shared, headers: &HeaderMap) -> bool {
    let token = header(headers, "authorization");
    token.strip_prefix("Bearer ").is_some_and(|t| shared.tokens().contains(t))
}

async fn used(State(shared): State<Shared>, headers: HeaderMap) -> Response<Body> {
    if !logged_in(&shared, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let action = take(&mut shared.faults(), "GET", "used", "", header(&headers, "stowage-verb"));
    if let Some(Action::Refuse(status)) = action {
        return StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response();
    }
    Json(shared.state().used()).into_response()
}

#[derive(Deserialize)]
struct ListQuery {
    #[serde(default)]
    prefix: String,
}

async fn list(State(shared): State<Shared>, headers: HeaderMap, Path(kind): Path<String>, Query(q): Query<ListQuery>) -> Response<Body> {
    if !logged_in(&shared, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let objects: Vec<Value> = shared.state().list(&kind, &q.prefix).into_iter().map(|(id, o)| render(&id, &o)).collect();
    Json(json!({ "objects": objects })).into_response()
}

fn render(id: &str, o: &Object) -> Value {
    json!({ "id": id, "version": o.version, "pool": o.pool, "gib": o.gib, "data": o.data })
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default()
}

/// GET, PUT and DELETE of one object: recorded, fenced, and disturbed as the test asked. Whoever hangs up does not stop it: an
/// array does what it has begun, and what was on its way arrives.
async fn object(
    State(shared): State<Shared>,
    Path(key): Path<(String, String)>,
    method: Method,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> Response<Body> {
    let work = tokio::spawn(one_object(shared, key, method, headers, body));
    work.await.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

async fn one_object(
    shared: Shared,
    (kind, id): (String, String),
    method: Method,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> Response<Body> {
    if !logged_in(&shared, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let verb = header(&headers, "stowage-verb").to_owned();
    let action = take(&mut shared.faults(), method.as_str(), &kind, &id, &verb);
    match &action {
        Some(Action::Delay { milliseconds }) => tokio::time::sleep(Duration::from_millis(*milliseconds)).await,
        Some(Action::HoldCall) => shared.hold().await,
        _ => {}
    }
    let mut response = match &action {
        Some(Action::DropCall) => StatusCode::BAD_GATEWAY.into_response(),
        Some(Action::Refuse(status)) => StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response(),
        _ => work(&shared, &method, (kind.clone(), id.clone()), &headers, &body),
    };
    let dropped = matches!(action, Some(Action::DropAnswer | Action::DropCall));
    let call = Call {
        sequence: 0,
        method: method.to_string(),
        kind,
        id,
        verb,
        operation_id: header(&headers, "stowage-operation").into(),
        generation: header(&headers, "stowage-generation").parse().unwrap_or_default(),
        request_id: header(&headers, "stowage-request-id").into(),
        status: response.status().as_u16(),
        dropped,
    };
    shared.state().record(call);
    if action == Some(Action::HoldAnswer) {
        shared.hold().await;
    }
    if dropped {
        response.extensions_mut().insert(Dropped);
    }
    response
}

#[derive(Deserialize)]
struct PutBody {
    #[serde(flatten)]
    object: Object,
    limit_gib: Option<u64>,
}

fn work(shared: &Shared, method: &Method, key: (String, String), headers: &HeaderMap, body: &[u8]) -> Response<Body> {
    let generation = header(headers, "stowage-generation").parse().unwrap_or_default();
    let mut state = shared.state();
    let id = key.1.clone();
    let outcome = match *method {
        Method::GET => match state.get(&key.0, &key.1) {
            Some(object) => return Json(render(&id, object)).into_response(),
            None => Err(Refusal::NotFound),
        },
        Method::PUT => {
            let Ok(put) = serde_json::from_slice::<PutBody>(body) else { return StatusCode::BAD_REQUEST.into_response() };
            let expect = match header(headers, "if-match").parse() {
                Ok(version) => Expect::Version(version),
                Err(_) => Expect::Absent,
            };
            state.put(key, put.object, expect, put.limit_gib, generation).map(|o| Json(render(&id, &o)).into_response())
        }
        _ => state.delete(&key, generation).map(|()| StatusCode::NO_CONTENT.into_response()),
    };
    if outcome.is_ok() && state.save().is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    outcome.unwrap_or_else(|refusal| match refusal {
        Refusal::NotFound => StatusCode::NOT_FOUND.into_response(),
        Refusal::Conflict => StatusCode::CONFLICT.into_response(),
        Refusal::Full { used, limit } => {
            (StatusCode::INSUFFICIENT_STORAGE, Json(json!({ "used_gib": used, "limit_gib": limit }))).into_response()
        }
        Refusal::Stale { seen } => (StatusCode::PRECONDITION_FAILED, Json(json!({ "seen": seen }))).into_response(),
    })
}

async fn calls(State(shared): State<Shared>) -> Json<Vec<Call>> {
    Json(shared.state().calls().to_vec())
}

async fn objects(State(shared): State<Shared>) -> Json<Value> {
    Json(json!(shared.state().all()))
}

/// Objects of a kind go, as nobody asked for.
async fn lose(State(shared): State<Shared>, Path(kind): Path<String>) -> StatusCode {
    shared.state().lose(&kind);
    StatusCode::NO_CONTENT
}

async fn add_fault(State(shared): State<Shared>, Json(fault): Json<Fault>) -> StatusCode {
    shared.faults().push(fault);
    StatusCode::NO_CONTENT
}

async fn clear_faults(State(shared): State<Shared>) -> StatusCode {
    shared.faults().clear();
    StatusCode::NO_CONTENT
}

#[derive(Deserialize)]
struct HeldQuery {
    at_least: usize,
    milliseconds: u64,
}

/// Answers when that many calls are held, or 408.
async fn held(State(shared): State<Shared>, Query(q): Query<HeldQuery>) -> StatusCode {
    let mut held = shared.0.held.subscribe();
    let reached = tokio::time::timeout(Duration::from_millis(q.milliseconds), held.wait_for(|n| *n >= q.at_least)).await;
    if matches!(reached, Ok(Ok(_))) { StatusCode::NO_CONTENT } else { StatusCode::REQUEST_TIMEOUT }
}

async fn release(State(shared): State<Shared>) -> StatusCode {
    shared.0.released.send_modify(|n| *n += 1);
    StatusCode::NO_CONTENT
}

async fn expire(State(shared): State<Shared>) -> StatusCode {
    shared.tokens().clear();
    StatusCode::NO_CONTENT
}
