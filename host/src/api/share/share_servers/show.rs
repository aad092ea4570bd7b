use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::json;

use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_server::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    views::share_server::one(&req, &show::show(&req.app, &req.ctx, req.param("server_id")).await?)
}

pub async fn details(req: ApiRequest) -> Result<Reply> {
    let details = show::details(&req.app, &req.ctx, req.param("server_id")).await?;
    Reply::json(StatusCode::OK, &json!({ "details": details.into_iter().collect::<BTreeMap<_, _>>() }))
}
