//! `deny_access` of a snapshot. A rule that failed is denied like any other.

use std::sync::Arc;

use super::{apply, check_mountable, held};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_access::AccessState,
    error::{Error, Result},
    service::{share_refusal as refusal, share_snapshot},
};

/// From these a rule goes: all but those it goes from already.
const FROM: &[AccessState] = &[AccessState::QueuedToApply, AccessState::Applying, AccessState::Active, AccessState::Error];

/// # Errors
/// 400 when it cannot be mounted, its state does not allow it or the rule is another snapshot's, 403, 404.
pub async fn deny(app: &Arc<App>, ctx: &RequestContext, id: &str, rule_id: &str) -> Result<()> {
    check_mountable(&share_snapshot::load_row_for(app, ctx, id, "share_snapshot:deny_access").await?)?;
    let mut tx = app.store.begin().await?;
    let (snapshot, host) = held(&mut tx, id).await?;
    let Some(rule) = tx.snapshot_rule(rule_id).await? else { return Err(refusal::rule_not_found(rule_id)) };
    if rule.snapshot_id != id {
        return Err(Error::invalid("Access rule provided is not associated with given snapshot."));
    }
    // false: it is going already
    if tx.snapshot_rule_withdraw(rule_id, FROM, clock::now()).await? {
        apply(app, ctx, &mut tx, &snapshot, &host).await?;
    }
    Ok(tx.commit().await?)
}
