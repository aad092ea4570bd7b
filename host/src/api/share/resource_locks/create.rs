use super::reason;
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, member, object},
            views,
        },
    },
    domain::resource_lock::{Locked, LockedAction},
    error::Result,
    service::resource_lock::create::{self, CreateLock},
};

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = member(&body, "resource_lock")?;
    let id = members.text("resource_id")?.filter(|t| !t.is_empty());
    let ask = CreateLock {
        on: match members.text("resource_type")? {
            None => Locked::Share,
            Some(word) => Locked::parse(word).ok_or_else(|| members.refuse("resource_type", "is not one of ['share', 'access_rule']"))?,
        },
        resource_id: id.ok_or_else(|| members.refuse("resource_id", "is required"))?.to_owned(),
        action: action(&members)?.unwrap_or(LockedAction::Delete),
        reason: reason(&members)?,
    };
    views::lock::one(&req, &create::create(&req.app, &req.ctx, ask).await?)
}

/// The action a body says.
pub(super) fn action(members: &Members<'_>) -> Result<Option<LockedAction>> {
    let refuse = || members.refuse("resource_action", "is not one of ['delete', 'show']");
    members.text("resource_action")?.map(|word| LockedAction::parse(word).ok_or_else(refuse)).transpose()
}
