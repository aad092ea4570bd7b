use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::{Error, Result},
    service::qos_specs::associate,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let types = associate::types(&req.app, &req.ctx, req.param("qos_id")).await?;
    let shown: Vec<Value> =
        types.into_iter().map(|(id, name)| json!({ "association_type": "volume_type", "id": id, "name": name })).collect();
    Reply::json(StatusCode::OK, &json!({ "qos_associations": shown }))
}

pub async fn give(req: ApiRequest) -> Result<Reply> {
    associate::give(&req.app, &req.ctx, req.param("qos_id"), volume_type(&req)?).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn take(req: ApiRequest) -> Result<Reply> {
    associate::take(&req.app, &req.ctx, req.param("qos_id"), Some(volume_type(&req)?)).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn take_all(req: ApiRequest) -> Result<Reply> {
    associate::take(&req.app, &req.ctx, req.param("qos_id"), None).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

fn volume_type(req: &ApiRequest) -> Result<&str> {
    req.query_value("vol_type_id").filter(|t| !t.is_empty()).ok_or_else(|| Error::invalid("Volume Type id must not be None."))
}
