use super::{create::action, reason};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{member, object},
            views,
        },
    },
    error::Result,
    service::resource_lock::update::{self, UpdateLock},
};

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = member(&body, "resource_lock")?;
    members.deny_unknown(&["resource_action", "lock_reason"])?;
    let ask = UpdateLock { action: action(&members)?, reason: if members.has("lock_reason") { Some(reason(&members)?) } else { None } };
    views::lock::one(&req, &update::update(&req.app, &req.ctx, req.param("lock_id"), ask).await?)
}
