use super::allow::bad_level;
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{member, object},
            views,
        },
    },
    domain::share_access::AccessLevel,
    error::{Error, Result},
    service::share_access::update,
};

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let word = member(&body, "update_access")?.text("access_level")?.filter(|l| !l.is_empty());
    let word = word.ok_or_else(|| Error::invalid("Invalid input. Missing 'access_level' in update request."))?;
    let level = AccessLevel::parse(word).ok_or_else(|| bad_level(word))?;
    let (share, rule) = update::update(&req.app, &req.ctx, req.param("access_id"), level).await?;
    views::access::one(&req, &rule, &share.access_rules_status)
}
