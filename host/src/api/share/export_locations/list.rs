use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_location::list,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    views::location::many(&req, &list::of_share(&req.app, &req.ctx, req.param("share_id")).await?)
}
