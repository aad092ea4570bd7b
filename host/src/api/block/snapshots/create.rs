use http::StatusCode;

use crate::{
    api::{
        block::{fields::Surface, views},
        members::{Members, object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::{
        refusal,
        snapshot::create::{self, CreateSnapshot},
    },
};

const MEMBERS: &[&str] = &["name", "description", "display_name", "display_description", "volume_id", "force", "metadata"];
/// From here on a snapshot of an attached volume needs no word.
const IN_USE_SINCE: u16 = 66;

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "snapshot", &[])?;
    members.deny_unknown(MEMBERS)?;
    let volume_id = members.uuid("volume_id")?.ok_or_else(|| without_volume(&members))?.to_owned();
    let ask = CreateSnapshot {
        volume_id,
        name: members.bounded("name")?.or(members.bounded("display_name")?),
        description: members.bounded("description")?.or(members.bounded("display_description")?),
        metadata: members.metadata("metadata")?.unwrap_or_default(),
        in_use: in_use(&members, req.ctx.microversion)?,
    };
    let made = create::create(&req.app, &req.ctx, ask).await?;
    views::snapshot::one(&req, StatusCode::ACCEPTED, Surface::Changed, &made)
}

/// Left out it is a bad body; null is, as upstream, an id that no volume has.
fn without_volume(members: &Members<'_>) -> Error {
    if members.has("volume_id") { refusal::volume_not_found("None") } else { Error::invalid("'volume_id' must be specified") }
}

fn in_use(members: &Members<'_>, minor: u16) -> Result<bool> {
    let force = members.boolean("force")?;
    if minor < IN_USE_SINCE {
        return Ok(force.unwrap_or(false));
    }
    if force == Some(false) {
        return Err(refusal::invalid_input(
            "Since microversion 3.66 the 'force' flag is invalid for this request. For backward compatability, however, when the 'force' flag is \
             passed with a value evaluating to True, it is silently ignored.",
        ));
    }
    Ok(true)
}
