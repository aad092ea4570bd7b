use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share_server,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    share_server::delete::delete(&req.app, &req.ctx, req.param("server_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
