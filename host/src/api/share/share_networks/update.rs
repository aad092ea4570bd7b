use super::create::deny_nova;
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, entity, member},
            share_network_subnets::values::MAX_ID,
            views,
        },
    },
    error::Result,
    service::share_network::update::{self, UpdateNetwork},
};

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "share_network")?;
    let members = member(&body, "share_network")?;
    deny_nova(&members)?;
    let ask = UpdateNetwork {
        name: members.changed("name")?,
        description: members.changed("description")?,
        neutron_net_id: id(&members, "neutron_net_id")?,
        neutron_subnet_id: id(&members, "neutron_subnet_id")?,
        more: members.iter().any(|(key, _)| !["name", "description"].contains(&key.as_str())),
    };
    let network = update::update(&req.app, &req.ctx, req.param("network_id"), ask).await?;
    views::share_network::one(&req, http::StatusCode::OK, &network)
}

fn id(members: &Members<'_>, key: &str) -> Result<Option<Option<String>>> {
    match members.text(key)? {
        Some(t) if t.chars().count() > MAX_ID => Err(members.refuse(key, "is too long")),
        found => Ok(members.has(key).then(|| found.filter(|t| !t.is_empty()).map(str::to_owned))),
    }
}
