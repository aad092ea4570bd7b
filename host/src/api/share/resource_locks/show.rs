use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::resource_lock::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    views::lock::one(&req, &show::show(&req.app, &req.ctx, req.param("lock_id")).await?)
}
