use http::StatusCode;
use serde_json::json;

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
    service::{metadata::Manner, share_location::metadata as service},
};

fn ids(req: &ApiRequest) -> (&str, &str) {
    (req.param("share_id"), req.param("location_id"))
}

pub async fn all(req: ApiRequest) -> Result<Reply> {
    let (share, id) = ids(&req);
    views::share::metadata(&service::all(&req.app, &req.ctx, share, id).await?)
}

pub async fn one(req: ApiRequest) -> Result<Reply> {
    let (share, id) = ids(&req);
    let key = req.param("key");
    let value = service::one(&req.app, &req.ctx, share, id, key).await?;
    Reply::json(StatusCode::OK, &json!({ "meta": { key: value } }))
}

pub async fn merge(req: ApiRequest) -> Result<Reply> {
    put_all(req, Manner::Merge).await
}

pub async fn replace(req: ApiRequest) -> Result<Reply> {
    put_all(req, Manner::Replace).await
}

async fn put_all(req: ApiRequest, manner: Manner) -> Result<Reply> {
    let given = metadata(&object(&req)?)?;
    let (share, id) = ids(&req);
    views::share::metadata(&service::set(&req.app, &req.ctx, share, id, &given, manner).await?)
}

pub async fn set_one(req: ApiRequest) -> Result<Reply> {
    let given = one_pair(&req)?;
    let (share, id) = ids(&req);
    service::set(&req.app, &req.ctx, share, id, &given, Manner::Merge).await?;
    views::share::metadata(&given)
}

pub async fn remove(req: ApiRequest) -> Result<Reply> {
    let (share, id) = ids(&req);
    service::remove(&req.app, &req.ctx, share, id, req.param("key")).await?;
    Ok(Reply::empty(StatusCode::OK))
}
