use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share,
};

pub async fn force_delete(req: ApiRequest) -> Result<Reply> {
    share::delete::force_delete(&req.app, &req.ctx, req.param("share_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn soft_delete(req: ApiRequest) -> Result<Reply> {
    share::soft_delete::soft_delete(&req.app, &req.ctx, req.param("share_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
