//! `/healthz` and `/metrics`, without a token.

use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    driver::catalog::BackendState,
    error::Result,
    handler,
    telemetry::health::{Condition, Status},
};

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Admin,
        Verb::Get,
        "/healthz",
        "",
        200,
        "Say whether this process should get requests, and if not, why",
        handler!(ready),
    )
    .public()
    .rooted(),
    Route::new(Api::Admin, Verb::Get, "/healthz/live", "", 200, "Say that this process answers at all", handler!(live)).public().rooted(),
    Route::new(Api::Admin, Verb::Get, "/metrics", "", 200, "Show the metrics in Prometheus' text format", handler!(metrics))
        .public()
        .rooted(),
];

/// 503 with the reasons when this process cannot serve. A degraded one serves, and says what is wrong.
async fn ready(req: ApiRequest) -> Result<Reply> {
    let mut conditions = req.app.health.conditions();
    for backend in req.app.drivers.backend_status() {
        if backend.state != BackendState::Up || backend.held_back.is_some() {
            let since = if backend.state == BackendState::Up { backend.held_back_since } else { None }.unwrap_or(backend.since);
            let reason = backend.reason.or(backend.held_back).unwrap_or_default();
            // one bad driver is not this process's unreadiness: the rest serves
            conditions.insert(format!("back end {}", backend.name), Condition { status: Status::Degraded, reason, since });
        }
    }
    for driver in req.app.drivers.status() {
        if let Some(refused) = driver.refused {
            let condition = Condition { status: Status::Degraded, reason: refused.reason, since: refused.at };
            conditions.insert(format!("driver {}", driver.name), condition);
        }
    }
    let status = conditions.values().map(|c| c.status).max().unwrap_or(Status::Ok);
    let code = if status == Status::Unready { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    Reply::json(code, &json!({ "status": status, "version": env!("CARGO_PKG_VERSION"), "conditions": conditions }))
}

async fn live(_: ApiRequest) -> Result<Reply> {
    Ok(text(b"alive\n".to_vec()))
}

async fn metrics(req: ApiRequest) -> Result<Reply> {
    Ok(text(req.app.metrics.render().into_bytes()))
}

fn text(body: Vec<u8>) -> Reply {
    Reply { body, ..Reply::empty(StatusCode::OK) }
        .header(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"))
}
