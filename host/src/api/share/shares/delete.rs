use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    share::delete::delete(&req.app, &req.ctx, req.param("share_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
