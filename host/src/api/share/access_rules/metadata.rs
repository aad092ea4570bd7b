use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{metadata, object},
            views,
        },
    },
    error::Result,
    service::share_access::metadata as service,
};

pub async fn put(req: ApiRequest) -> Result<Reply> {
    let given = metadata(&object(&req)?)?;
    views::share::metadata(&service::put(&req.app, &req.ctx, req.param("access_id"), &given).await?)
}

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    service::remove(&req.app, &req.ctx, req.param("access_id"), req.param("key")).await?;
    Ok(Reply::empty(StatusCode::OK))
}
