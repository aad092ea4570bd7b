use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_network::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    views::share_network::one(&req, http::StatusCode::OK, &show::show(&req.app, &req.ctx, req.param("network_id")).await?)
}
