use http::StatusCode;
use serde_json::json;

use crate::{
    api::{block::views::volume_type::TypeView, reply::Reply, request::ApiRequest},
    error::Result,
    service::volume_type::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let found = show::show(&req.app, &req.ctx, req.param("type_id")).await?;
    Reply::json(StatusCode::OK, &json!({ "volume_type": TypeView::of(&req).render(&found) }))
}
