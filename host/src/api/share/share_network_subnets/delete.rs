use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share_network_subnet::delete,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    delete::delete(&req.app, &req.ctx, req.param("network_id"), req.param("subnet_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
