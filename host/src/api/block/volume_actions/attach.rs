use http::StatusCode;

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    domain::attachment::AttachMode,
    error::{Error, Result},
    service::attachment::older::attach,
    store::sql::attachments::SaidAttached,
};

pub async fn attach(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-attach", &[])?;
    members.deny_unknown(&["instance_uuid", "host_name", "mountpoint", "mode"])?;
    let instance_id = members.uuid("instance_uuid")?.map(str::to_owned);
    let host = members.bounded("host_name")?.filter(|h| !h.is_empty());
    if instance_id.is_none() && host.is_none() {
        return Err(Error::invalid("Invalid request to attach volume to an invalid target"));
    }
    let mountpoint = members.bounded("mountpoint")?.filter(|m| !m.is_empty());
    let mountpoint = mountpoint.ok_or_else(|| Error::invalid("Invalid input received: 'mountpoint' is a required property"))?;
    let mode = match members.text("mode")? {
        None | Some("rw") => AttachMode::ReadWrite,
        Some("ro") => AttachMode::ReadOnly,
        Some(_) => return Err(members.refuse("mode", "is not one of ['rw', 'ro']")),
    };
    let said = SaidAttached { instance_id, host, mountpoint, mode: mode.as_str() };
    attach::attach(&req.app, &req.ctx, req.param("volume_id"), said).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
