use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_network_subnet::list,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let (network, subnets) = list::list(&req.app, &req.ctx, req.param("network_id")).await?;
    views::subnet::many(&req, &network, &subnets)
}
