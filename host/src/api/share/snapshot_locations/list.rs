use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::snapshot_location::list,
};

pub async fn of_snapshot(req: ApiRequest) -> Result<Reply> {
    views::snapshot_access::locations(&req, &list::of_snapshot(&req.app, &req.ctx, req.param("snapshot_id")).await?)
}

pub async fn of_instance(req: ApiRequest) -> Result<Reply> {
    views::snapshot_access::locations(&req, &list::of_instance(&req.app, &req.ctx, req.param("instance_id")).await?)
}
