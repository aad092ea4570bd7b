//! `POST /services/ensure` and `/services/ensure-shares`: the shares of one back end are compared with what its driver finds.
//!
//! The first refuses when shares are busy or a run is under way; the second, which released clients send, leaves busy shares
//! for later and has a run that is under way repeated once, so that a change made meanwhile is not missed.

use std::sync::Arc;

use super::start::{self, Asker, Cause};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    driver::catalog::BackendState,
    error::{Error, Result},
    policy::Target,
    service::backend::not_found,
};

/// How many busy shares a refusal names.
const NAMED: i64 = 20;

/// What happens to whatever stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// It is refused.
    Strict,
    /// It is put off.
    Patient,
}

/// Begins a run, or has the one under way repeated.
///
/// # Errors
/// 403; 404 for an unknown host; 409 when the service is down or disabled, and, where strict, while shares are busy or a
/// run is under way.
pub async fn ensure(app: &Arc<App>, ctx: &RequestContext, host: &str, manner: Manner) -> Result<()> {
    app.policy.check(ctx, "service:ensure_shares", &Target::own(ctx))?;
    check_serves(app, host).await?;
    // before the transaction, which would hold up others for so long. A share that becomes busy between the two is put off, as
    // one is that becomes busy a moment after the run began.
    let busy = match manner {
        Manner::Strict => check_idle(app, host).await,
        Manner::Patient => Ok(()),
    };
    let mut tx = app.store.begin().await?;
    if !tx.ensure_turn(host).await? {
        return Err(not_found(host));
    }
    if let Some(run) = tx.ensure_running(host).await? {
        if manner == Manner::Strict {
            return Err(Error::conflict(format!("The shares of {host} are being ensured already.")));
        }
        tx.ensure_repeat(&run.id).await?;
        return Ok(tx.commit().await?);
    }
    busy?;
    let asker = Asker { request_id: &ctx.request_id, project_id: ctx.project_id(), user_id: &ctx.principal.user_id };
    start::start(app, &mut tx, host, Cause::Request, None, asker).await?;
    Ok(tx.commit().await?)
}

/// The service is up and enabled, and somebody works.
async fn check_serves(app: &App, host: &str) -> Result<()> {
    let row = super::backend(app, host).await?;
    let refuse = |why: &str| Error::conflict(format!("Service {host} cannot ensure its shares now: {why}."));
    if !row.enabled {
        let why = row.disabled_reason.map_or_else(|| "it is disabled".to_owned(), |r| format!("it is disabled ({r:.255})"));
        return Err(refuse(&why));
    }
    if row.state(clock::now()).is_err() {
        return Err(refuse("it is down"));
    }
    let here = app.drivers.backend_status().into_iter().find(|b| b.host == host);
    if here.is_some_and(|b| b.state == BackendState::Quarantined) {
        return Err(refuse("its driver failed too often and is being left alone"));
    }
    if !app.store.workers().await?.iter().any(|w| w.alive) {
        return Err(refuse("no worker serves it"));
    }
    Ok(())
}

/// Nothing is under way on its shares.
async fn check_idle(app: &App, host: &str) -> Result<()> {
    let (busy, n) = app.store.shares_in_transition(host, NAMED).await?;
    if n == 0 {
        return Ok(());
    }
    let named: Vec<String> = busy.iter().map(|(id, status)| format!("{id} ({status})")).collect();
    let more = if usize::try_from(n).is_ok_and(|n| n > named.len()) { ", ..." } else { "" };
    Err(Error::conflict(format!("{n} shares of {host} are in a transitional state: {}{more}.", named.join(", "))))
}
