use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, action, given_metadata, object},
            resource_locks::reason,
            views,
        },
    },
    domain::{
        resource_lock::LockedAction,
        share::RulesStatus,
        share_access::{AccessLevel, AccessType, check},
    },
    error::{Error, Result},
    service::share_access::allow::{self, AllowAccess},
};

const CEPHX_SINCE: u16 = 13;
const IPV6_SINCE: u16 = 38;
const METADATA_SINCE: u16 = 45;
const LOCKS_SINCE: u16 = 82;

pub async fn allow(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = action(&body)?;
    let minor = req.ctx.microversion;
    let (kind, to) = target(&members, minor)?;
    let locks = if minor >= LOCKS_SINCE { locks(&members)? } else { Vec::new() };
    let ask = AllowAccess {
        kind,
        to,
        level: level(&members)?,
        metadata: if minor >= METADATA_SINCE { given_metadata(&members)? } else { Vec::new() },
        lock_reason: if locks.is_empty() { None } else { reason(&members)? },
        locks,
    };
    let rule = allow::allow(&req.app, &req.ctx, req.param("share_id"), ask).await?;
    // it waits
    views::access::one(&req, &rule, RulesStatus::Syncing.as_str())
}

/// What the caller keeps everybody else from, and itself until it takes the lock away.
fn locks(members: &Members<'_>) -> Result<Vec<LockedAction>> {
    let mut locks = Vec::new();
    for (key, action) in [("lock_visibility", LockedAction::Show), ("lock_deletion", LockedAction::Delete)] {
        if members.boolean(key)?.unwrap_or(false) {
            locks.push(action);
        }
    }
    Ok(locks)
}

/// Whom a rule lets in, checked as far as words go.
pub(in crate::api::share) fn target(members: &Members<'_>, minor: u16) -> Result<(AccessType, String)> {
    let known = |kind: &AccessType| *kind != AccessType::Cephx || minor >= CEPHX_SINCE;
    let bad = || {
        let kinds: Vec<&str> = AccessType::ALL.iter().filter(|k| known(k)).map(|k| k.as_str()).collect();
        Error::invalid(format!("Invalid access type. Expected one of {} and a target in 'access_to'.", kinds.join(", ")))
    };
    let kind = members.text("access_type")?.and_then(AccessType::parse).filter(known).ok_or_else(bad)?;
    let to = members.text("access_to")?.ok_or_else(bad)?;
    check(kind, to, minor >= IPV6_SINCE).map_err(|e| Error::invalid(format!("Invalid share access: {e}")))?;
    Ok((kind, to.to_owned()))
}

fn level(members: &Members<'_>) -> Result<AccessLevel> {
    match members.text("access_level")?.filter(|l| !l.is_empty()) {
        None => Ok(AccessLevel::ReadWrite),
        Some(word) => AccessLevel::parse(word).ok_or_else(|| bad_level(word)),
    }
}

/// No level has this name.
pub(super) fn bad_level(word: &str) -> Error {
    Error::invalid(format!("Invalid or unsupported share access level: {word:.64}."))
}
