use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_snapshot_instance::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    views::snapshot::instance(&req, &show::show(&req.app, &req.ctx, req.param("instance_id")).await?)
}
