//! Before the first share: the configuration is read again, and the driver that serves by then says what it depends on. From
//! then on no other incarnation of the back end is asked.

use super::{
    Ask, Next, end,
    serving::{Serving, serving},
};
use crate::{
    clock,
    config::Config,
    driver::{DriverResult, backend::Backend},
    jobs::{
        JobContext, Outcome, TaskError,
        task::{block_support::call, tried::unless_fenced},
    },
    notify::share_message::ShareDetail,
    serve,
    service::share_service::start::{self, Cause},
    store::sql::ensure::EnsureRun,
};

pub(super) async fn prepare(cx: &JobContext, ask: &mut Ask, run: &EnsureRun) -> Result<Outcome, TaskError> {
    let mut reason = None;
    // after a change it has just been read
    if run.cause != Cause::Change.as_str() && ask.failures == 0 && ask.down_since.is_none() {
        reason = reread(cx).await;
    }
    let backend = match serving(cx, ask, &run.backend, run.incarnation.as_deref()).await? {
        Serving::Here(backend) | Serving::Instead(backend) => Ok(backend),
        Serving::Down(e) => Err(e),
        Serving::Elsewhere(outcome) => return Ok(outcome),
    };
    let told = match &backend {
        Ok(backend) => fingerprint(cx, backend).await,
        Err(e) => Err(e.clone()),
    };
    let fingerprint = match told {
        Ok(text) => Some(text),
        Err(e) => {
            unless_fenced(&e)?;
            if e.kind == crate::driver::ErrorKind::NotImplemented {
                return end::give_up(cx, &run.id, "its driver does not ensure shares", None).await;
            }
            match ask.failed_now(cx, &e) {
                Next::Again(after) => return Ok(ask.later(after, e.to_string())),
                Next::Down => {
                    return end::give_up(cx, &run.id, &format!("the back end is down: {e}"), Some(ShareDetail::DriverFailedEnsure)).await;
                }
                Next::Failed => {}
            }
            reason = Some(format!("the driver did not tell its fingerprint: {e}"));
            None
        }
    };
    let incarnation = backend.ok().map(|b| b.incarnation());
    let mut tx = cx.app.store.begin().await?;
    let batch = start::batch(&cx.app, &run.backend);
    tx.ensure_prepared(&run.id, incarnation.as_deref(), fingerprint.as_deref(), batch, reason.as_deref()).await?;
    cx.commit_step(tx).await?;
    Ok(ask.next())
}

async fn fingerprint(cx: &JobContext, backend: &Backend) -> DriverResult<String> {
    backend.need_ensure()?.fingerprint(&call(cx, "fingerprint")).await
}

/// The incarnation that the run was prepared with serves nowhere any more: what it said of shares counts no longer.
pub(super) async fn start_over(cx: &JobContext, ask: &Ask, run: &EnsureRun) -> Result<Outcome, TaskError> {
    tracing::info!(host = run.backend, "the back end changed while its shares were ensured: the run begins anew");
    let mut tx = cx.app.store.begin().await?;
    let held = tx.ensure_held(&run.id).await?;
    // as many as a statement takes
    for some in held.chunks(500) {
        tx.ensure_let_go(&run.id, some, clock::now()).await?;
    }
    tx.ensure_start_over(&run.id).await?;
    super::write::wake(cx, &mut tx).await?;
    cx.commit_step(tx).await?;
    Ok(ask.next())
}

/// Puts the configuration file into force; why it was not.
pub(super) async fn reread(cx: &JobContext) -> Option<String> {
    let refused = serve::reload::reload(&cx.app, "shares are ensured").await.err();
    let config = cx.app.config.get();
    if is_behind(cx, &config) {
        // whoever read the file does so too, but shares must not be asked for before
        cx.app.apply(&config).await;
    }
    refused.map(|e| format!("the configuration is refused, the one in force was used: {e}"))
}

/// The back end serves with another configuration than it should.
fn is_behind(cx: &JobContext, config: &Config) -> bool {
    let host = &cx.job.resource_id;
    let wanted = config.backends.iter().find(|b| config.backend_host(&b.name) == *host);
    let here = cx.app.drivers.backend(host).ok();
    wanted.zip(here).is_some_and(|(wanted, here)| *wanted != *here.config)
}
