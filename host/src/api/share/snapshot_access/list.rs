use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::snapshot_access::list,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    views::snapshot_access::rules(&list::list(&req.app, &req.ctx, req.param("snapshot_id")).await?)
}
