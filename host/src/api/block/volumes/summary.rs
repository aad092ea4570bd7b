use super::filters;
use crate::{
    api::{block::views, paging, reply::Reply, request::ApiRequest},
    error::Result,
    service::volume::{self, list::ListVolumes},
};

pub async fn summary(req: ApiRequest) -> Result<Reply> {
    let ask = ListVolumes { filters: filters::read(&req)?, all_tenants: paging::all_tenants(&req), ..ListVolumes::default() };
    let found = volume::summary::summary(&req.app, &req.ctx, &ask).await?;
    views::volume::summary(&req, &found)
}
