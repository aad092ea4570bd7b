//! The first phase: the driver copies while the source serves. Who cancels meanwhile comes first: each step here is written only
//! where nobody did.

use std::time::Duration;

use serde_json::json;

use super::{Ask, Failed, MOST_PAUSE, Pair, told_source, undo};
use crate::{
    clock,
    domain::share_server::TaskState,
    driver::{
        DriverError, DriverResult, ErrorKind,
        types::{Answer, Pending, PollOutcome},
    },
    jobs::{
        JobContext, Outcome, TaskError,
        task::{block_support::call, tried::unless_fenced},
    },
};

pub async fn copy(cx: &JobContext, pair: &Pair, mut ask: Ask) -> Result<Outcome, TaskError> {
    if ask.token.is_some() && clock::now() < ask.ask_at {
        return Ok(rest(ask));
    }
    let e = match go_on(cx, pair, &ask).await? {
        Ok(Answer::Done(())) => return copied(cx, pair, ask).await,
        Ok(Answer::Pending(pending)) => return copying(cx, pair, ask, pending).await,
        Err(e) => e,
    };
    unless_fenced(&e)?;
    tracing::warn!(share_server_id = %pair.source.id, destination = %pair.target.id, backend = pair.target.backend, error = %e, "the driver did not copy the share server");
    if e.kind == ErrorKind::NotFound && ask.token.take().is_some() {
        // the array has forgotten the work's outcome: the verb itself finds it
        return Ok(ask.again(Duration::ZERO, e.to_string()));
    }
    if let Some(after) = ask.tried.again(&e) {
        return Ok(ask.again(after, e.to_string()));
    }
    // what took days is not thrown away because the array is away for minutes; an operator can cancel it
    if let Some(after) = ask.waits(&e).filter(|_| ask.token.is_some() || ask.tried.uncertain) {
        return Ok(ask.again(after.min(MOST_PAUSE), e.to_string()));
    }
    undo::because(cx, pair, ask, Failed::of(e.to_string(), e.user_text())).await
}

/// The copy itself, or the question after one that goes on in the array.
async fn go_on(cx: &JobContext, pair: &Pair, ask: &Ask) -> Result<DriverResult<Answer<()>>, TaskError> {
    if let Some(token) = &ask.token {
        let answer = async {
            let backend = cx.app.drivers.backend(&pair.target.backend)?;
            match backend.need_poll()?.poll(&call(cx, "poll"), token).await? {
                PollOutcome::Pending(pending) => Ok(Answer::Pending(pending)),
                PollOutcome::Copied => Ok(Answer::Done(())),
                other => Err(DriverError::wrong_answer(format!("the work of a migration's start ended as {other:?}"))),
            }
        };
        return Ok(answer.await);
    }
    let (source, target) = (told_source(cx, &pair.source).await?, pair.told_target(cx).await?);
    let answer = async {
        let backend = cx.app.drivers.backend(&pair.target.backend)?;
        backend.need_share_server_migration()?.start(&call(cx, "start"), &source, &target, &ask.work.request).await
    };
    Ok(answer.await)
}

async fn copying(cx: &JobContext, pair: &Pair, mut ask: Ask, pending: Pending) -> Result<Outcome, TaskError> {
    ask.tried.failures = 0;
    ask.token = Some(pending.token);
    ask.ask_at = clock::now() + clock::micros(pending.retry_after);
    let mut tx = cx.app.store.begin().await?;
    let counts = tx.share_server_task(&pair.source.id, TaskState::COPYING, TaskState::DriverInProgress, clock::now()).await?;
    tx.share_server_copied(&pair.source.id, pending.percent).await?;
    cx.commit_noted(tx, &json!(ask), "the back end copies").await?;
    if !counts {
        return Ok(ask.again(Duration::ZERO, "it was cancelled"));
    }
    Ok(rest(ask))
}

/// Until the array may be asked again, but for looks at whether somebody cancels.
fn rest(ask: Ask) -> Outcome {
    let left = Duration::from_micros(u64::try_from(ask.ask_at - clock::now()).unwrap_or(0));
    ask.again(left.min(MOST_PAUSE), "the back end copies")
}

async fn copied(cx: &JobContext, pair: &Pair, mut ask: Ask) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    let counts = tx.share_server_task(&pair.source.id, TaskState::COPYING, TaskState::Phase1Done, clock::now()).await?;
    ask.next_step();
    cx.commit_noted(tx, &json!(ask), "all is copied").await?;
    if !counts {
        return Ok(ask.again(Duration::ZERO, "it was cancelled"));
    }
    tracing::info!(share_server_id = %pair.source.id, destination = %pair.target.id, "a share server is copied, and waits to be completed");
    Ok(super::wait(ask))
}
