use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::security_service::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    views::security_service::one(&req, &show::show(&req.app, &req.ctx, req.param("service_id")).await?)
}
