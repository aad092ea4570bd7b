use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share_snapshot,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    share_snapshot::delete::delete(&req.app, &req.ctx, req.param("snapshot_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
