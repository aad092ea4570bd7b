use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::snapshot_location::show,
};

pub async fn of_snapshot(req: ApiRequest) -> Result<Reply> {
    let found = show::of_snapshot(&req.app, &req.ctx, req.param("snapshot_id"), req.param("location_id")).await?;
    views::snapshot_access::location(&req, &found)
}

pub async fn of_instance(req: ApiRequest) -> Result<Reply> {
    let found = show::of_instance(&req.app, &req.ctx, req.param("instance_id"), req.param("location_id")).await?;
    views::snapshot_access::location(&req, &found)
}
