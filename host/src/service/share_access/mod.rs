//! Who may mount a share.
//!
//! A change of rules is a row that waits and a job of the share, in one transaction. The job takes up everything that waits
//! then, so many changes at once are one call to the driver.

pub mod allow;
pub mod deny;
pub(in crate::service) mod family;
pub mod hidden;
pub mod list;
pub mod metadata;
pub mod show;
pub mod update;

use std::sync::Arc;

use serde_json::json;

use crate::{
    app::App,
    context::RequestContext,
    domain::share::{ShareStatus, TRANSITIONAL, is_one_of},
    error::{Error, Result},
    service::{share, share_refusal as refusal},
    store::{
        Tx,
        sql::{metadata::Pairs, share_access::AccessRow, shares::ShareRow},
    },
};

/// A rule with its pairs and how its share's rules stand.
#[derive(Debug, Clone)]
pub struct Rule {
    pub row: AccessRow,
    pub metadata: Pairs,
    /// Whom it lets in is not the caller's to know.
    pub hidden: bool,
}

/// Rules of one share, or of one snapshot: with every change the driver is told all of them in one call.
pub(in crate::service) const MOST_RULES: usize = 1024;

/// The refusal of one more.
pub(in crate::service) fn too_many() -> Error {
    Error::over_limit("", format!("One more access rule would exceed the {MOST_RULES} that there may be: deny others first."))
}

/// From here on rules of a share in error may change.
const IN_ERROR_SINCE: u16 = 74;

/// The share, held until the transaction ends, if its rules may change now.
async fn held(tx: &mut Tx, ctx: &RequestContext, share_id: &str) -> Result<ShareRow> {
    // its network first, as everybody does who works on a network: while that is being changed, so are the share's locations
    let Some(found) = tx.share(share_id).await? else { return Err(refusal::share_not_found(share_id)) };
    share::network::keep(tx, found.share_network_id.as_deref()).await?;
    let Some(share) = tx.share_locked(share_id).await? else { return Err(refusal::share_not_found(share_id)) };
    if share.is_soft_deleted {
        return Err(refusal::soft_deleted("change the access rules of", share_id));
    }
    let wrong =
        is_one_of(&share.status, TRANSITIONAL) || (share.status == ShareStatus::Error.as_str() && ctx.microversion < IN_ERROR_SINCE);
    if wrong || share.host.is_none() {
        return Err(refusal::invalid_share(format!(
            "Share {share_id} has the status {} and cannot have its access rules changed now: it must be on a back end, and nothing else under way.",
            share.status
        )));
    }
    // after the share's own state, which says more: that of one that is being created on a new server
    share::network::check_server(tx, share_id).await?;
    Ok(share)
}

/// A rule of `share` waits; its job comes.
async fn apply(app: &Arc<App>, ctx: &RequestContext, tx: &mut Tx, of: &ShareRow) -> Result<()> {
    tx.share_rules_status(&of.id, crate::clock::now()).await?;
    share::destroy::event(tx, "share.access.start", of, &ctx.request_id).await?;
    tx.enqueue(&app.jobs, share::job(app, ctx, of, "share.access", json!({}))).await?;
    Ok(())
}
