use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_access::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let (share, rule) = show::show(&req.app, &req.ctx, req.param("access_id")).await?;
    views::access::one(&req, &rule, &share.access_rules_status)
}
