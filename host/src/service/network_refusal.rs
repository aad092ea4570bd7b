//! Refusals about share networks, subnets, security services and share servers, in words that released clients know.

use std::fmt::Display;

use crate::{error::Error, quota::QuotaError, store::sql::share_networks::ShareNetworkRow};

pub fn network_not_found(id: &str) -> Error {
    Error::not_found(format!("Share network {} could not be found.", short(id)))
}

pub fn subnet_not_found(id: &str) -> Error {
    Error::not_found(format!("Share network subnet {} could not be found.", short(id)))
}

pub fn service_not_found(id: &str) -> Error {
    Error::not_found(format!("Security service {} could not be found.", short(id)))
}

pub fn server_not_found(id: &str) -> Error {
    Error::not_found(format!("Share server {} could not be found.", short(id)))
}

pub fn zone_not_found(zone: &str) -> Error {
    Error::invalid(format!("The provided availability zone {} does not exist.", short(zone)))
}

/// What works on the network has to end first.
pub fn not_active(network: &ShareNetworkRow) -> Error {
    Error::invalid(format!(
        "The share network {} used isn't in an 'active' state. Current status is {}. The action may be retried after the share network has changed its state.",
        network.id, network.status
    ))
}

/// Another change of the network came first.
pub fn in_change(network: &ShareNetworkRow) -> Error {
    Error::conflict(format!(
        "The share network {} is being given another subnet or service by another request. Try again when its status is active.",
        network.id
    ))
}

/// What a create is refused with where upstream calls the service's configuration invalid.
pub fn invalid_service(reason: impl Display) -> Error {
    Error::conflict(format!("Invalid security service: {reason}"))
}

/// Some server may hold something that the service does not know of.
pub fn not_auto_deletable(what: impl Display) -> Error {
    Error::conflict(format!(
        "The service cannot determine if there are any non-managed shares on {what}, so it cannot be deleted. Please contact the cloud administrator to rectify."
    ))
}

/// The quota of share networks, as upstream words it. Clients look for "exceed".
pub fn over_quota(e: QuotaError) -> Error {
    match e {
        QuotaError::Exceeded { limit, .. } => {
            Error::over_limit("ShareNetworksLimitExceeded", format!("Maximum number of share-networks allowed ({limit}) exceeded."))
        }
        QuotaError::Store(e) => e.into(),
    }
}

/// What a client sent, cut to a length that may be echoed.
fn short(text: &str) -> String {
    text.chars().take(255).collect()
}
