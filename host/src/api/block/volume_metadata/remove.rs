use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::volume_metadata::remove,
};

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    remove::remove(&req.app, &req.ctx, req.param("volume_id"), req.param("key")).await?;
    Ok(Reply::empty(StatusCode::OK))
}
