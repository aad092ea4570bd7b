//! `/stowage/v1/drivers`: what is loaded, what was refused and why, and looking at the plugin folder now.

use http::StatusCode;
use serde_json::json;

use super::{ADMIN, require_admin};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    error::{Error, Result},
    handler,
};

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Admin,
        Verb::Get,
        "/drivers",
        ADMIN,
        200,
        "List drivers with their back ends, drains and refused files",
        handler!(list),
    ),
    Route::new(Api::Admin, Verb::Get, "/drivers/{name}", ADMIN, 200, "Show one driver", handler!(show)),
    Route::new(
        Api::Admin,
        Verb::Post,
        "/drivers/reload",
        ADMIN,
        200,
        "Look at every file of the plugin folder now and say what became of it",
        handler!(reload),
    )
    .query(&[("force", "boolean", "Accept a driver that lacks what existing resources use")]),
];

async fn list(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    Reply::json(StatusCode::OK, &json!({ "drivers": req.app.drivers.status() }))
}

async fn show(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    let found = req.app.drivers.status().into_iter().find(|d| d.name == req.param("name"));
    let driver = found.ok_or_else(|| Error::not_found("There is no driver of this name."))?;
    Reply::json(StatusCode::OK, &json!({ "driver": driver }))
}

async fn reload(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    let force = match req.query_value("force") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Error::invalid("force must be true or false.")),
    };
    let files = req.app.drivers.reload_now(force).await.map_err(Error::internal)?;
    Reply::json(StatusCode::OK, &json!({ "files": files }))
}
