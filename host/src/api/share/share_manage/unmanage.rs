use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share::unmanage,
};

pub async fn unmanage(req: ApiRequest) -> Result<Reply> {
    unmanage::unmanage(&req.app, &req.ctx, req.param("share_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
