use http::StatusCode;

use crate::{
    api::{
        members::{Members, object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    domain::volume::{AttachStatus, VolumeStatus},
    error::{Error, Result},
    service::volume::reset::{self, ResetVolume},
};

const ATTACH: &[AttachStatus] = &[AttachStatus::Attached, AttachStatus::Detached];
const MIGRATION: &[&str] = &["migrating", "starting", "completing", "success", "error", "none"];

pub async fn reset_status(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-reset_status", &[])?;
    members.deny_unknown(&["status", "attach_status", "migration_status"])?;
    let ask = ResetVolume {
        status: word(&members, "status", VolumeStatus::parse)?,
        attach_status: word(&members, "attach_status", |w| AttachStatus::parse(w).filter(|s| ATTACH.contains(s)))?,
        migration_status: word(&members, "migration_status", |w| MIGRATION.contains(&w).then(|| (w != "none").then(|| w.to_owned())))?,
    };
    if ask.status.is_none() && ask.attach_status.is_none() && ask.migration_status.is_none() {
        return Err(Error::invalid("Must specify 'status', 'attach_status' or 'migration_status' for update."));
    }
    reset::reset(&req.app, &req.ctx, req.param("volume_id"), ask).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

fn word<T>(members: &Members<'_>, key: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
    match members.text(key)? {
        None => Ok(None),
        Some(text) => parse(&text.to_ascii_lowercase()).map(Some).ok_or_else(|| members.refuse(key, "is not one of its words")),
    }
}
