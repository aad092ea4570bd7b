use http::StatusCode;

use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_snapshot::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    views::snapshot::one(&req, StatusCode::OK, &show::show(&req.app, &req.ctx, req.param("snapshot_id")).await?)
}
