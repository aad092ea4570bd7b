//! Before the first share: the configuration is read again, and the driver that serves by then says what it depends on.

use super::{Ask, end};
use crate::{
    jobs::{
        JobContext, Outcome, TaskError,
        task::{block_support::call, tried::unless_fenced},
    },
    serve,
    service::share_service::start::{self, Cause},
    store::sql::ensure::EnsureRun,
};

pub(super) async fn prepare(cx: &JobContext, ask: &mut Ask, run: &EnsureRun) -> Result<Outcome, TaskError> {
    let mut reason = None;
    // after a change it has just been read
    if run.cause != Cause::Change.as_str() && ask.failures == 0 {
        reason = reread(cx).await;
    }
    let fingerprint = async { cx.app.drivers.backend(&run.backend)?.need_ensure()?.fingerprint(&call(cx, "fingerprint")).await };
    let fingerprint = match fingerprint.await {
        Ok(text) => Some(text),
        Err(e) => {
            unless_fenced(&e)?;
            if e.kind == crate::driver::ErrorKind::NotImplemented {
                return end::give_up(cx, &run.id, "its driver does not ensure shares").await;
            }
            if let Some(after) = ask.again(&e) {
                return Ok(ask.later(after, e.to_string()));
            }
            reason = Some(format!("the driver did not tell its fingerprint: {e}"));
            None
        }
    };
    let mut tx = cx.app.store.begin().await?;
    tx.ensure_prepared(&run.id, fingerprint.as_deref(), start::batch(&cx.app, &run.backend), reason.as_deref()).await?;
    cx.commit_step(tx).await?;
    Ok(ask.next())
}

/// Puts the configuration file into force; why it was not.
async fn reread(cx: &JobContext) -> Option<String> {
    match serve::reload::reload(&cx.app, "shares are ensured").await {
        Ok(report) => {
            if !report.backends_changed.is_empty() {
                // the watcher does so too, but shares must not be asked for before
                cx.app.apply(&cx.app.config.get()).await;
            }
            None
        }
        Err(e) => Some(format!("the configuration is refused, the one in force was used: {e}")),
    }
}
