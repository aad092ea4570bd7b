use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{bounded_or_older, entity, given_metadata, member},
            views,
        },
    },
    error::Result,
    service::{
        share_refusal as refusal,
        share_snapshot::create::{self, CreateShareSnapshot},
    },
};

const METADATA_SINCE: u16 = 73;

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "snapshot")?;
    let members = member(&body, "snapshot")?;
    let ask = CreateShareSnapshot {
        share_id: members.text("share_id")?.ok_or_else(|| refusal::invalid_input("'share_id' is a required property"))?.to_owned(),
        name: bounded_or_older(&members, "name", "display_name")?,
        description: bounded_or_older(&members, "description", "display_description")?,
        metadata: if req.ctx.microversion >= METADATA_SINCE { given_metadata(&members)? } else { Vec::new() },
        force: members.boolean("force")?.unwrap_or(false),
    };
    views::snapshot::one(&req, StatusCode::ACCEPTED, &create::create(&req.app, &req.ctx, ask).await?)
}
