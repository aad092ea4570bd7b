use http::StatusCode;

use crate::{
    api::{
        block::{fields::Surface, views},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::volume,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let found = volume::show::show(&req.app, &req.ctx, req.param("volume_id")).await?;
    views::volume::one(&req, StatusCode::OK, Surface::Shown, &found)
}
