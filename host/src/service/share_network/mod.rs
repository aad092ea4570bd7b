//! Share networks: where a project wants its share servers to be, and with which security services.

pub mod add_service;
pub mod check_service;
pub mod create;
pub mod delete;
pub mod list;
pub mod remove_service;
pub mod replace_service;
pub mod reset;
pub mod show;
pub mod update;

use crate::{
    app::App,
    context::RequestContext,
    domain::share_network::NetworkStatus,
    error::{Error, Result},
    policy::Target,
    quota::{QuotaDelta, defaults::share_resource},
    service::network_refusal as refusal,
    store::sql::{
        backends::BackendKind,
        security_services::SecurityServiceRow,
        share_network_list::ShareNetwork,
        share_networks::{ServerSupport, ShareNetworkRow},
    },
};

/// What policy is asked about a network.
pub fn target(network: &ShareNetworkRow) -> Target<'_> {
    Target { project_id: &network.project_id, user_id: &network.user_id, ..Target::default() }
}

/// The network, if the caller may know of it: another project's is not found. What he may do with it is the next question.
pub async fn load_row(app: &App, ctx: &RequestContext, id: &str) -> Result<ShareNetworkRow> {
    match app.store.share_network(id).await? {
        Some(row) if row.project_id == ctx.project_id() || app.policy.allows(ctx, "share_network:show", &target(&row)) => Ok(row),
        _ => Err(refusal::network_not_found(id)),
    }
}

/// As [`load_row`], and the caller may do `action` with it.
pub async fn load_row_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<ShareNetworkRow> {
    let row = load_row(app, ctx, id).await?;
    app.policy.check(ctx, action, &target(&row))?;
    Ok(row)
}

/// With all that a view shows.
async fn complete(app: &App, id: &str) -> Result<ShareNetwork> {
    app.store.share_network_complete(id).await?.ok_or_else(|| refusal::network_not_found(id))
}

/// Refuses a network that something works on.
///
/// # Errors
/// 400.
pub fn check_active(network: &ShareNetworkRow) -> Result<()> {
    if network.status == NetworkStatus::Active.as_str() { Ok(()) } else { Err(refusal::not_active(network)) }
}

/// Refuses a zone that is not there.
///
/// # Errors
/// 400.
pub async fn check_zone(app: &App, zone: Option<&str>) -> Result<()> {
    let Some(zone) = zone else { return Ok(()) };
    if super::zones(app, BackendKind::Share).await?.iter().any(|(known, _)| known == zone) {
        return Ok(());
    }
    Err(refusal::zone_not_found(zone))
}

/// The figures a network counts in: of its project, and of its user there.
fn quota(network: &ShareNetworkRow, amount: i64) -> Vec<QuotaDelta> {
    ["", network.user_id.as_str()]
        .into_iter()
        .map(|user| QuotaDelta {
            project_id: network.project_id.clone(),
            user_id: user.to_owned(),
            type_id: String::new(),
            resource: share_resource("share_networks"),
            amount,
        })
        .collect()
}

/// A network has one service of a kind.
fn check_kind_is_new(network: &ShareNetworkRow, has: &[SecurityServiceRow], new: &SecurityServiceRow) -> Result<()> {
    if has.iter().any(|s| s.kind == new.kind) {
        return Err(refusal::invalid_service(format!(
            "Cannot add security service to share network. Security service with '{}' type already added to '{}' share network",
            new.kind, network.id
        )));
    }
    Ok(())
}

/// The service that takes the place of another is of the same kind.
fn check_replaces(
    network: &ShareNetworkRow,
    has: &[SecurityServiceRow],
    current: &SecurityServiceRow,
    new: &SecurityServiceRow,
) -> Result<()> {
    if !has.iter().any(|s| s.id == current.id) {
        return Err(refusal::invalid_service(format!(
            "The specified current security service {} is not associated to the share network {}.",
            current.id, network.id
        )));
    }
    if current.kind != new.kind {
        return Err(refusal::invalid_service(format!(
            "A security service can only be replaced by one of the same type. The current security service type is '{}' and the new security service type is '{}'",
            current.kind, new.kind
        )));
    }
    Ok(())
}

/// Servers are told of their security services when they are built. Drivers have no call yet to change them on a live
/// server, and so no server's row says that it can.
fn check_servers_follow(network: &ShareNetworkRow, support: &ServerSupport) -> Result<()> {
    if support.servers == 0 {
        return Ok(());
    }
    if !support.security_service_update {
        return Err(Error::invalid(format!(
            "Updating security services is not supported on this share network ({}) while it has shares. See the capability 'security_service_update_support'.",
            network.id
        )));
    }
    Err(Error::invalid(format!(
        "The share network {} cannot be updated since at least one of its backend hosts do not support this operation.",
        network.id
    )))
}
