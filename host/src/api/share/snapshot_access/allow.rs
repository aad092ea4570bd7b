use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            access_rules::target,
            body::{action, object},
            views,
        },
    },
    error::Result,
    service::snapshot_access::allow,
};

pub async fn allow(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let (kind, to) = target(&action(&body)?, req.ctx.microversion)?;
    views::snapshot_access::rule(&allow::allow(&req.app, &req.ctx, req.param("snapshot_id"), kind, &to).await?)
}
