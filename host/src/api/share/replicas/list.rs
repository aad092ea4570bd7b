use http::StatusCode;
use serde_json::json;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share::replicas,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    replicas::check_list(&req.app, &req.ctx)?;
    Reply::json(StatusCode::OK, &json!({ "share_replicas": [] }))
}
