use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share_network,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    share_network::delete::delete(&req.app, &req.ctx, req.param("network_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
