//! The share network a share is asked for on.

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::{share_refusal as refusal, share_type::handles_servers},
    store::sql::types::Type,
};

/// There is such a share network.
///
/// # Errors
/// 404.
pub async fn check_known(_app: &App, _ctx: &RequestContext, id: Option<&str>) -> Result<()> {
    match id {
        Some(id) => Err(Error::not_found(format!("Share network {id:.64} could not be found."))),
        None => Ok(()),
    }
}

/// Shares whose servers the driver builds need a network; others have none.
///
/// # Errors
/// 400.
pub fn check_fits(share_type: &Type, id: Option<&str>) -> Result<()> {
    match (handles_servers(share_type), id) {
        (true, None) => Err(refusal::invalid_input("Share network must be set when the driver_handles_share_servers is true.")),
        (false, Some(_)) => Err(refusal::invalid_input("Share network can not be set when the driver_handles_share_servers is false.")),
        _ => Ok(()),
    }
}
