use serde_json::Value;

use super::{
    METADATA_SINCE,
    values::{subnet_values, zone},
};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{given_metadata, member, object},
            views,
        },
    },
    error::{Error, Result},
    service::share_network_subnet::create::{self, CreateSubnet},
};

const KEY: &str = "share-network-subnet";

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    if !body.get(KEY).is_some_and(Value::is_object) {
        return Err(Error::invalid("Share Network Subnet is missing from the request body."));
    }
    let members = member(&body, KEY)?;
    let metadata = if req.ctx.microversion >= METADATA_SINCE { given_metadata(&members)? } else { Vec::new() };
    let ask = CreateSubnet { values: subnet_values(&members)?, availability_zone: zone(&members)?, metadata };
    let made = create::create(&req.app, &req.ctx, req.param("network_id"), ask).await?;
    views::subnet::one(&req, &made)
}
