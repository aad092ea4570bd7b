use http::StatusCode;

use crate::{
    api::{filter::boolean, reply::Reply, request::ApiRequest},
    error::{Error, Result},
    service::volume,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    let cascade = flag(&req, "cascade")?;
    let force = req.ctx.microversion >= 23 && flag(&req, "force")?;
    volume::delete::delete(&req.app, &req.ctx, req.param("volume_id"), force, cascade).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

fn flag(req: &ApiRequest, key: &str) -> Result<bool> {
    req.query_value(key).map_or(Ok(false), |text| {
        boolean(text).ok_or_else(|| Error::invalid(format!("Value '{:.64}' for '{key}' is not a boolean.", text)))
    })
}
