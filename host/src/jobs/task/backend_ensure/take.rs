//! Taking the shares of the next call: some a transaction, as each is locked by itself.

use super::{Ask, PAUSE, TRIES, end};
use crate::{
    clock,
    jobs::{JobContext, Outcome, TaskError},
    store::sql::ensure::EnsureRun,
};

/// Goes on with the walk over the back end's shares.
pub(super) async fn next(cx: &JobContext, ask: &Ask, mut run: EnsureRun) -> Result<Outcome, TaskError> {
    let mut room = run.batch;
    while room > 0 && !run.walked {
        let mut tx = cx.app.store.begin().await?;
        room -= tx.ensure_take_next(&mut run, room, clock::now()).await?;
        cx.commit_step(tx).await?;
    }
    Ok(ask.next())
}

/// One more turn for those that were busy and had the fewest. Where none is left, that is the end of the run.
pub(super) async fn busy(cx: &JobContext, ask: &Ask, run: &EnsureRun) -> Result<Outcome, TaskError> {
    let Some(tried) = cx.app.store.ensure_tried_least(&run.id, TRIES).await? else { return end::end(cx, &run.id).await };
    let (mut room, mut taken) = (run.batch, 0);
    loop {
        let mut tx = cx.app.store.begin().await?;
        let (looked_at, held) = tx.ensure_take_busy(run, tried, room, clock::now()).await?;
        (room, taken) = (room - looked_at, taken + held);
        let more = looked_at > 0 && room > 0;
        if !more {
            tx.ensure_round(&run.id).await?;
        }
        cx.commit_step(tx).await?;
        if !more {
            break;
        }
    }
    Ok(if taken > 0 { ask.next() } else { ask.later(PAUSE, "shares are busy with something else".to_owned()) })
}
