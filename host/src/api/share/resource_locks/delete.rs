use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::resource_lock,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    resource_lock::delete::delete(&req.app, &req.ctx, req.param("lock_id")).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
