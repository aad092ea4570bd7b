use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_network_subnet::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    views::subnet::one(&req, &show::show(&req.app, &req.ctx, req.param("network_id"), req.param("subnet_id")).await?)
}
