use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share_group_type,
};

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    share_group_type::delete::delete(&req.app, &req.ctx, req.param("type_id")).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
