//! The end of a move that came to nothing: the volume is what it was, at once, and whatever stands on the back ends goes behind it.

use super::{
    super::{block_support as support, cleanup, snapshot_support::settled, volume_retype::give_back},
    Plan, Why,
};
use crate::{
    clock,
    jobs::{JobContext, Outcome, TaskError},
    service::volume::destroy::event_now,
    store::Tx,
};

/// Nobody asks for it any more: the volume was attached, or an operator said that it does not move.
pub async fn abandon(cx: &JobContext, plan: &Plan) -> Result<Outcome, TaskError> {
    tracing::info!(volume_id = %cx.job.resource_id, "the move is not wanted any more");
    give_up_in(cx, cx.app.store.begin().await?, plan, None).await
}

/// It failed, and its user is told why.
pub async fn give_up(cx: &JobContext, plan: &Plan, why: Why) -> Result<Outcome, TaskError> {
    give_up_in(cx, cx.app.store.begin().await?, plan, Some(why)).await
}

pub async fn give_up_in(cx: &JobContext, mut tx: Tx, plan: &Plan, why: Option<Why>) -> Result<Outcome, TaskError> {
    if let Some(volume) = tx.volume_locked(&cx.job.resource_id).await?
        && tx.volume_stays(&volume.id, &cx.job.id, clock::now()).await?
    {
        if let Some(to) = plan.to_type.as_ref().filter(|to| volume.retype_to.as_ref() == Some(to)) {
            give_back(&mut tx, &volume, to).await?;
        }
        if let Some(Why(detail, text)) = why {
            support::tell(&mut tx, cx, &volume, plan.action(), detail, &text).await?;
        }
    }
    event_now(&mut tx, plan.ends().1, &cx.job.resource_id, &cx.job.request_id).await?;
    leave(&mut tx, cx, plan).await?;
    settled(cx, tx).await
}

/// Clean-up jobs for everything that a run may have made.
async fn leave(tx: &mut Tx, cx: &JobContext, plan: &Plan) -> Result<(), TaskError> {
    if let Some(source) = plan.source.as_ref().filter(|source| !source.runs.is_empty()) {
        cleanup::leave(tx, cx, &source.backend, &source.leftover(cx, true)).await?;
    }
    if let Some(target) = &plan.target {
        let object = &target.object;
        cleanup::leave(tx, cx, &object.backend, &object.leftover(cx, false)).await?;
        tx.forget_claim(&object.volume.id).await?;
    }
    Ok(())
}
