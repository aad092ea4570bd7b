//! There are no extensions any more: what they brought is part of the API.

use http::StatusCode;
use serde_json::json;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::{Error, Result},
};

pub async fn list(_req: ApiRequest) -> Result<Reply> {
    Reply::json(StatusCode::OK, &json!({ "extensions": [] }))
}

pub async fn show(_req: ApiRequest) -> Result<Reply> {
    Err(Error::not_found("The resource could not be found."))
}
