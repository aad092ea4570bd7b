use serde_json::Value;

use super::ONE_SUBNET_SINCE;
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, entity, member},
            share_manage::options,
            views,
        },
    },
    error::{Error, Result},
    service::share_server::manage::{self, ManageServer},
};

pub async fn manage(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "share_server")?;
    let members = member(&body, "share_server")?;
    let subnet = members.text("share_network_subnet_id")?.filter(|id| !id.is_empty()).map(str::to_owned);
    let ask = ManageServer {
        host: needed(&members, "host")?,
        share_network_id: needed(&members, "share_network_id")?,
        identifier: needed(&members, "identifier")?,
        options: options(&members)?,
        subnet_id: subnet.filter(|_| req.ctx.microversion >= ONE_SUBNET_SINCE),
    };
    views::share_server::accepted(&req, &manage::manage(&req.app, &req.ctx, ask).await?)
}

/// What cannot be left out: 400 here.
fn needed(members: &Members<'_>, key: &str) -> Result<String> {
    match members.get(key) {
        None => Err(Error::invalid(format!("Required parameter {key} not found."))),
        Some(Value::Null) => Err(Error::invalid(format!("Required parameter {key} is empty."))),
        Some(_) => match members.bounded(key)?.filter(|text| !text.trim().is_empty()) {
            Some(text) if text.chars().any(char::is_control) => Err(members.refuse(key, "is no text of one line")),
            Some(text) => Ok(text),
            None => Err(Error::invalid(format!("Required parameter {key} is empty."))),
        },
    }
}
