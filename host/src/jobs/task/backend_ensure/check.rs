//! After a driver or its configuration changed: a run begins when the driver says something else of itself than when the
//! shares were ensured last. A back end without shares only leaves its word.
//!
//! The incarnation that was swapped in is asked, whichever process runs the job.

use super::{
    Ask, Next,
    serving::{Serving, serving},
};
use crate::{
    clock,
    jobs::{
        JobContext, Outcome, TaskError,
        task::{
            block_support::call,
            tried::{settled, unless_fenced},
        },
    },
    service::share_service::start::{self, Asker, Cause},
};

pub(super) async fn check(cx: &JobContext, ask: &mut Ask) -> Result<Outcome, TaskError> {
    let (store, host) = (&cx.app.store, cx.job.resource_id.as_str());
    let wanted = ask.incarnation.clone();
    let backend = match serving(cx, ask, host, wanted.as_deref()).await? {
        // one that was swapped out again: what came after it is checked by a job of its own, and there is no harm in asking now
        Serving::Here(backend) | Serving::Instead(backend) => Ok(backend),
        Serving::Down(e) => Err(e),
        Serving::Elsewhere(outcome) => return Ok(outcome),
    };
    let told = match &backend {
        Ok(backend) => match backend.ensure() {
            Some(ensure) => ensure.fingerprint(&call(cx, "fingerprint")).await.map(Some),
            None => Ok(None),
        },
        Err(e) => Err(e.clone()),
    };
    let fingerprint = match told {
        Ok(Some(text)) => text,
        Ok(None) => return settled(cx, store.begin().await?).await,
        Err(e) => {
            unless_fenced(&e)?;
            if let Next::Again(after) = ask.failed_now(cx, &e) {
                return Ok(ask.later(after, e.to_string()));
            }
            tracing::warn!(host, error = %e, "whether shares must be ensured is not known: the driver did not tell its fingerprint");
            return settled(cx, store.begin().await?).await;
        }
    };
    if store.ensure_fingerprint(host).await?.as_ref() == Some(&fingerprint) {
        return settled(cx, store.begin().await?).await;
    }
    let mut tx = store.begin().await?;
    if tx.ensure_turn(host).await? {
        let incarnation = backend.ok().map(|b| b.incarnation());
        if let Some(run) = tx.ensure_running(host).await? {
            // its job waits behind this one, and may be run by a process that has not read the change
            tx.ensure_begins_with(&run.id, incarnation.as_deref()).await?;
        } else if !tx.has_shares_on(host).await? {
            tx.ensure_remember(host, &fingerprint, clock::now()).await?;
        } else {
            tracing::info!(host, "the back end is another than when its shares were ensured last: they are ensured");
            let asker = Asker { request_id: &cx.job.request_id, project_id: "", user_id: "" };
            start::start(&cx.app, &mut tx, host, Cause::Change, incarnation, asker).await?;
        }
    }
    settled(cx, tx).await
}
