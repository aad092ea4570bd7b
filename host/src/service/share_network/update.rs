//! `PUT /share-networks/{id}`: name and description; and while it has no servers, what its default subnet stands for.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    service::network_refusal as refusal,
    store::{Tx, sql::share_network_list::ShareNetwork},
};

/// The outer option says whether a member was given.
#[derive(Debug, Clone, Default)]
pub struct UpdateNetwork {
    pub name: Option<Option<String>>,
    pub description: Option<Option<String>>,
    pub neutron_net_id: Option<Option<String>>,
    pub neutron_subnet_id: Option<Option<String>>,
    /// Something other than name and description was given.
    pub more: bool,
}

/// # Errors
/// 400 when no single default subnet could be meant, 403 also for more than name and description once it has servers, 404.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, ask: UpdateNetwork) -> Result<ShareNetwork> {
    super::load_row_for(app, ctx, id, "share_network:update").await?;
    let mut tx = app.store.begin().await?;
    if tx.share_network_locked(id).await?.is_none() {
        return Err(refusal::network_not_found(id));
    }
    if ask.more && tx.share_network_support(id).await?.servers > 0 {
        return Err(Error::forbidden(format!(
            "Cannot update share network {id}. It is used by share servers. Only 'name' and 'description' fields are available for update"
        )));
    }
    if ask.neutron_net_id.is_some() || ask.neutron_subnet_id.is_some() {
        rename_default_subnet(&mut tx, id, &ask).await?;
    }
    let (name, description) = (ask.name.as_ref().map(Option::as_deref), ask.description.as_ref().map(Option::as_deref));
    tx.share_network_describe(id, name, description, clock::now()).await?;
    tx.commit().await?;
    super::complete(app, id).await
}

async fn rename_default_subnet(tx: &mut Tx, id: &str, ask: &UpdateNetwork) -> Result<()> {
    let all = tx.subnets(id).await?;
    let mut defaults = all.iter().filter(|s| s.availability_zone.is_none());
    let refuse = |what: &str| {
        Err(Error::invalid(format!(
            "The share network {id} does not have {what} 'default' subnet that serves all availability zones, so subnet details \
             ('neutron_net_id', 'neutron_subnet_id') cannot be updated."
        )))
    };
    let Some(subnet) = defaults.next() else { return refuse("a") };
    if defaults.next().is_some() {
        return refuse("an unique");
    }
    let (net, sub) = (ask.neutron_net_id.as_ref().map(Option::as_deref), ask.neutron_subnet_id.as_ref().map(Option::as_deref));
    let net_after = net.unwrap_or(subnet.neutron_net_id.as_deref());
    let sub_after = sub.unwrap_or(subnet.neutron_subnet_id.as_deref());
    if net_after.is_none() != sub_after.is_none() {
        return Err(Error::invalid(format!(
            "To update the share network {id} you need to specify both 'neutron_net_id' and 'neutron_subnet_id'."
        )));
    }
    tx.subnet_rename(&subnet.id, net, sub, clock::now()).await?;
    Ok(())
}
