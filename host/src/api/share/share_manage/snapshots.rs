use http::StatusCode;

use super::manage::{needed, options};
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
    service::share_snapshot::{
        manage::{self, ManageSnapshot},
        unmanage,
    },
};

const METADATA_SINCE: u16 = 73;

pub async fn manage(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "snapshot")?;
    let members = member(&body, "snapshot")?;
    let ask = ManageSnapshot {
        share_id: needed(&members, "share_id")?,
        location: needed(&members, "provider_location")?,
        options: options(&members)?,
        name: bounded_or_older(&members, "name", "display_name")?,
        description: bounded_or_older(&members, "description", "display_description")?,
        metadata: if req.ctx.microversion >= METADATA_SINCE { given_metadata(&members)? } else { Vec::new() },
    };
    views::snapshot::one(&req, StatusCode::ACCEPTED, &manage::manage(&req.app, &req.ctx, ask).await?)
}

pub async fn unmanage(req: ApiRequest) -> Result<Reply> {
    unmanage::unmanage(&req.app, &req.ctx, req.param("snapshot_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
