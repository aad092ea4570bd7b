use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::security_service,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    security_service::delete::delete(&req.app, &req.ctx, req.param("service_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
