use serde_json::Value;

use crate::{
    api::{
        filter::iso8601,
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, entity, member},
            share_network_subnets::values::{subnet_values, zone},
            views,
        },
    },
    clock::Micros,
    error::{Error, Result},
    service::share_network::create::{self, CreateNetwork},
};

/// From here on the first subnet may be of one zone.
const ZONE_SINCE: u16 = 51;

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "share_network")?;
    let members = member(&body, "share_network")?;
    deny_nova(&members)?;
    let ask = CreateNetwork {
        name: members.bounded("name")?,
        description: members.bounded("description")?,
        availability_zone: if req.ctx.microversion >= ZONE_SINCE { zone(&members)? } else { None },
        subnet: subnet_values(&members)?,
        created_at: created_at(&members)?,
    };
    views::share_network::one(&req, http::StatusCode::OK, &create::create(&req.app, &req.ctx, ask).await?)
}

/// Networks of Nova are gone.
pub(super) fn deny_nova(members: &Members<'_>) -> Result<()> {
    if members.has("nova_net_id") {
        return Err(Error::invalid("nova networking is not supported starting in Ocata."));
    }
    Ok(())
}

fn created_at(members: &Members<'_>) -> Result<Option<Micros>> {
    match members.get("created_at") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => iso8601(text).map(Some).ok_or_else(|| members.refuse("created_at", "is not a time")),
        Some(_) => Err(members.refuse("created_at", "is not a time")),
    }
}
