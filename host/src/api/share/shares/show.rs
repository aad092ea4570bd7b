use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let with = views::share::with(true, req.ctx.microversion);
    views::share::one(&req, &share::show::show(&req.app, &req.ctx, req.param("share_id"), with).await?)
}
