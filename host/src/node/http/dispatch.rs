//! What every request goes through: its id, the token, limits, the generation, the log, and refusals as JSON.
//!
//! A verb runs in a task of its own: it ends also when its caller has hung up, so that nothing stays half done for lack of a
//! listener.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    RequestExt, RequestPartsExt, Router,
    body::Body,
    extract::{Path, Query},
    response::Response,
    routing::any,
};
use http::{HeaderValue, Request, StatusCode, header, request::Parts};
use serde_json::json;
use tokio::{sync::Semaphore, time::timeout};
use tracing::Instrument;

use super::{
    Token,
    routes::{Ask, ROWS, Reply, Row},
};
use crate::node::{
    Call, Node, Phase,
    name::shown,
    refusal::{Kind, Refusal, Result},
};

const BODY: usize = 64 << 10;
const BODY_TIME: Duration = Duration::from_secs(15);
/// How many are carried out at once; and how long another waits for its turn.
const AT_ONCE: usize = 64;
const TURN: Duration = Duration::from_secs(30);
const VERB: Duration = Duration::from_secs(120);

struct Front {
    node: Arc<Node>,
    token: Token,
    turns: Arc<Semaphore>,
}

pub fn router(node: Arc<Node>, token: Token) -> Router {
    let front = Arc::new(Front { node, token, turns: Arc::new(Semaphore::new(AT_ONCE)) });
    let mut paths: BTreeMap<&str, Vec<&'static Row>> = BTreeMap::new();
    for row in ROWS {
        paths.entry(row.path).or_default().push(row);
    }
    let mut router = Router::new();
    for (path, rows) in paths {
        let front = Arc::clone(&front);
        let rows: Arc<[&'static Row]> = rows.into();
        router = router.route(path, any(move |request: Request<Body>| answer(Arc::clone(&front), Arc::clone(&rows), request)));
    }
    router.fallback(move |request: Request<Body>| answer(Arc::clone(&front), Arc::from([]), request))
}

async fn answer(front: Arc<Front>, rows: Arc<[&'static Row]>, request: Request<Body>) -> Response {
    let (mut parts, body) = request.with_limited_body().into_parts();
    let request_id = label(&parts, "stowage-request-id").unwrap_or_else(|| format!("req-{}", uuid::Uuid::new_v4()));
    let outcome = carry_out(&front, &rows, &mut parts, body, &request_id).await;
    let mut response = match outcome {
        Ok(Reply::Json(status, value)) => json_response(status, &value),
        Ok(Reply::Empty) => empty(StatusCode::NO_CONTENT),
        Err(refusal) => refused(&refusal, &rows),
    };
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert("stowage-request-id", value);
    }
    response
}

async fn carry_out(front: &Arc<Front>, rows: &[&'static Row], parts: &mut Parts, body: Body, request_id: &str) -> Result<Reply> {
    let row = rows.iter().copied().find(|r| r.is(&parts.method));
    if !row.is_some_and(|r| r.open) {
        authenticate(&front.token, parts)?;
    }
    let Some(row) = row else {
        return Err(if rows.is_empty() {
            Refusal::new(Kind::Unsupported, format!("there is no {}", shown(parts.uri.path()))).with_status(404)
        } else {
            Refusal::invalid(format!("{} has no method {}", shown(parts.uri.path()), shown(parts.method.as_str()))).with_status(405)
        });
    };
    let path = parts.extract::<Path<BTreeMap<String, String>>>().await.map_err(|e| Refusal::invalid(format!("the path: {e}")))?.0;
    let query = parts.extract::<Query<BTreeMap<String, String>>>().await.map_err(|e| Refusal::invalid(format!("the query: {e}")))?.0;
    if let Some(key) = query.keys().find(|k| !row.query.iter().any(|(name, ..)| name == k)) {
        return Err(Refusal::invalid(format!("unknown query key {}", shown(key))));
    }
    let call = Call { generation: if row.changes { generation(parts)? } else { 0 } };
    let body = match timeout(BODY_TIME, axum::body::to_bytes(body, BODY)).await {
        Err(_) => return Err(Refusal::invalid("the body did not come in time").with_status(408)),
        Ok(Err(e)) => return Err(Refusal::invalid(format!("the body is longer than {BODY} bytes, or broke off: {e}")).with_status(413)),
        Ok(Ok(body)) => body,
    };
    if row.changes && *front.node.phase.borrow() == Phase::Stopping {
        return Err(Refusal::transient("the node is ending"));
    }
    let ask = Ask { parts: path, query, body, call };
    if row.open {
        return (row.handler)(Arc::clone(&front.node), ask).await;
    }
    let Ok(Ok(turn)) = timeout(TURN, Arc::clone(&front.turns).acquire_owned()).await else {
        return Err(Refusal::transient(format!("{AT_ONCE} requests are being carried out")));
    };
    let span = tracing::info_span!(
        "request",
        request_id,
        operation = label(parts, "stowage-operation"),
        method = row.method,
        path = parts.uri.path()
    );
    let (node, generation) = (Arc::clone(&front.node), ask.call.generation);
    let work = async move {
        let _turn = turn;
        let outcome = (row.handler)(node, ask).await;
        report(row, generation, &outcome);
        outcome
    };
    let task = tokio::spawn(work.instrument(span));
    match timeout(VERB, task).await {
        Err(_) => Err(Refusal::transient("it takes long and goes on; repeat the request")),
        Ok(Err(e)) => Err(Refusal::internal(format!("the node's own fault: {e}"))),
        Ok(Ok(outcome)) => outcome,
    }
}

fn report(row: &Row, generation: u64, outcome: &Result<Reply>) {
    match outcome {
        Err(e) if e.kind == Kind::Internal => tracing::error!(generation, error = %e, "failed"),
        Err(e) => tracing::info!(generation, kind = ?e.kind, error = %e, "refused"),
        Ok(_) if row.changes => tracing::info!(generation, "done"),
        Ok(_) => tracing::debug!("done"),
    }
}

fn authenticate(token: &Token, parts: &Parts) -> Result<()> {
    let given = parts.headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
    let given = given.and_then(|v| v.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, t)| t.trim());
    match given {
        Some(given) if token.is(given) => Ok(()),
        Some(_) => Err(Refusal::new(Kind::Auth, "the token is not this node's")),
        None => Err(Refusal::new(Kind::Auth, "a token is needed: Authorization: Bearer ...")),
    }
}

fn generation(parts: &Parts) -> Result<u64> {
    let mut values = parts.headers.get_all("stowage-generation").iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(Refusal::invalid("the header Stowage-Generation is needed, once"));
    };
    let digits = value.to_str().ok().filter(|t| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit()));
    digits.and_then(|t| t.parse().ok()).ok_or_else(|| Refusal::invalid("Stowage-Generation is a decimal number below 2^64"))
}

/// A caller's label, if it is fit for a log.
fn label(parts: &Parts, name: &str) -> Option<String> {
    let text = parts.headers.get(name)?.to_str().ok()?;
    ((1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())).then(|| text.to_owned())
}

fn refused(refusal: &Refusal, rows: &[&'static Row]) -> Response {
    let body = json!({"error": {"kind": refusal.kind, "message": refusal.message}});
    let mut response = json_response(refusal.status(), &body);
    let headers = response.headers_mut();
    match refusal.kind {
        Kind::Transient => drop(headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"))),
        Kind::Auth => drop(headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
        _ if refusal.status() == 405 => {
            let allowed: Vec<&str> = rows.iter().map(|r| r.method).collect();
            if let Ok(value) = HeaderValue::from_str(&allowed.join(", ")) {
                headers.insert(header::ALLOW, value);
            }
        }
        _ => {}
    }
    response
}

fn json_response(status: u16, value: &serde_json::Value) -> Response {
    let mut response = empty(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    *response.body_mut() = Body::from(value.to_string());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
