use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{metadata, object, one_pair},
            views,
        },
    },
    error::Result,
    service::{metadata::Manner, share_snapshot::metadata as service},
};

pub async fn merge(req: ApiRequest) -> Result<Reply> {
    put_all(req, Manner::Merge).await
}

pub async fn replace(req: ApiRequest) -> Result<Reply> {
    put_all(req, Manner::Replace).await
}

async fn put_all(req: ApiRequest, manner: Manner) -> Result<Reply> {
    let given = metadata(&object(&req)?)?;
    views::share::metadata(&service::set(&req.app, &req.ctx, req.param("snapshot_id"), &given, manner).await?)
}

pub async fn one(req: ApiRequest) -> Result<Reply> {
    let given = one_pair(&req)?;
    service::set(&req.app, &req.ctx, req.param("snapshot_id"), &given, Manner::Merge).await?;
    views::share::metadata(&given)
}

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    service::remove(&req.app, &req.ctx, req.param("snapshot_id"), req.param("key")).await?;
    Ok(Reply::empty(StatusCode::OK))
}
