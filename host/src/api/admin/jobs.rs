//! `/stowage/v1/jobs`: what is being done, by whom, and what it waits for.

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
    jobs::task,
    store::sql::jobs::{JobFilter, JobRow},
};

const LIMIT: i64 = 1000;
const STATES: [&str; 3] = ["ready", "running", "done"];

pub const ROUTES: &[Route] = &[Route::new(
    Api::Admin,
    Verb::Get,
    "/jobs",
    ADMIN,
    200,
    "List jobs, newest first; of what runs in this process, with how far its driver says it is",
    handler!(list),
)
.query(&[
    ("state", "string", "ready, running or done"),
    ("kind", "string", "Task, such as volume.create"),
    ("backend", "string", "host@backend"),
    ("resource_id", "string", "The resource the job is about"),
    ("project_id", "string", "The project on whose behalf it runs"),
    ("marker", "string", "Last job of the previous page"),
    ("limit", "integer", "Most rows; at most 1000"),
])];

async fn list(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    one_of(&req, "state", &STATES)?;
    one_of(&req, "kind", &task::registry().kinds())?;
    if req.query_value("backend").is_some_and(|name| !name.is_empty() && !name.contains('@')) {
        return Err(Error::invalid("backend must be host@backend, or empty for jobs that have none."));
    }
    if let Some(marker) = req.query_value("marker")
        && !req.app.store.has_job(marker).await?
    {
        return Err(Error::invalid("There is no job of this id, or no longer: begin again without a marker."));
    }
    let of = |key: &str| req.query_value(key).map(str::to_owned);
    let filter = JobFilter {
        state: of("state"),
        kind: of("kind"),
        backend: of("backend"),
        resource_id: of("resource_id"),
        project_id: of("project_id"),
    };
    let limit = match req.query_value("limit").map(str::parse) {
        None => LIMIT,
        Some(Ok(n @ 1..)) => LIMIT.min(n),
        Some(_) => return Err(Error::invalid("limit must be a whole number above zero.")),
    };
    let jobs = req.app.jobs.list(&filter, req.query_value("marker"), limit).await?;
    let shown = |row: JobRow| {
        let mut shown = json!(row);
        shown["progress"] = json!(req.app.progress.of_job(&row.id));
        shown
    };
    Reply::json(StatusCode::OK, &json!({ "jobs": jobs.into_iter().map(shown).collect::<Vec<_>>() }))
}

/// # Errors
/// 400, naming the values there are.
fn one_of(req: &ApiRequest, key: &str, known: &[&str]) -> Result<()> {
    match req.query_value(key) {
        Some(value) if !known.contains(&value) => Err(Error::invalid(format!("{key} must be one of {}.", known.join(", ")))),
        _ => Ok(()),
    }
}
