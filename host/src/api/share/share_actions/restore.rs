use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share,
};

pub async fn restore(req: ApiRequest) -> Result<Reply> {
    let was_there = share::restore::restore(&req.app, &req.ctx, req.param("share_id")).await?;
    Ok(Reply::empty(if was_there { StatusCode::ACCEPTED } else { StatusCode::OK }))
}
