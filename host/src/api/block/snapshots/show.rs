use http::StatusCode;

use crate::{
    api::{
        block::{fields::Surface, views},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::snapshot,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let found = snapshot::show::show(&req.app, &req.ctx, req.param("snapshot_id")).await?;
    views::snapshot::one(&req, StatusCode::OK, Surface::Shown, &found)
}
