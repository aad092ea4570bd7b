use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::transfer::delete,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    delete::delete(&req.app, &req.ctx, req.param("transfer_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
