use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_location::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    views::location::one(&req, &show::of_share(&req.app, &req.ctx, req.param("share_id"), req.param("location_id")).await?)
}
