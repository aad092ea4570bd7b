use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::volume,
};

pub async fn force_delete(req: ApiRequest) -> Result<Reply> {
    volume::delete::force_delete(&req.app, &req.ctx, req.param("volume_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
