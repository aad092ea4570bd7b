//! The driver makes the new object. A pool that fails is given up for another one, if the volume may go elsewhere.

use std::{ops::ControlFlow, time::Duration};

use serde_json::json;

use super::{
    super::{block_support as support, cleanup, repeats},
    Plan, Stage, Target, Why, give_up,
};
use crate::{
    driver::{
        DriverError, DriverResult, ErrorKind,
        types::{Answer, PollOutcome, VolumeUpdate},
    },
    jobs::{JobContext, TaskError},
    notify::message::Detail,
    store::sql::volumes::VolumeRow,
};

/// Asks the driver until it has made the object.
pub async fn create(cx: &JobContext, volume: &VolumeRow, plan: &mut Plan) -> Stage {
    let Some(mut target) = plan.target.clone().filter(|t| !t.made) else { return Ok(ControlFlow::Continue(())) };
    if let Some(later) = cx.change_lane(&target.object.backend, &json!(plan)).await {
        return Ok(ControlFlow::Break(later));
    }
    match ask(cx, &target).await {
        Ok(Answer::Done(update)) => {
            target.made = true;
            target.object.volume.provider_id = update.provider_id;
            target.object.volume.provider_data = update.provider_data;
            let id = target.object.volume.id.clone();
            (plan.target, plan.failures) = (Some(target), 0);
            let mut tx = cx.app.store.begin().await?;
            tx.settle_claim(&id).await?;
            cx.commit_noted(tx, &json!(plan), "connecting").await?;
            Ok(ControlFlow::Continue(()))
        }
        Ok(Answer::Pending(pending)) => {
            let percent = pending.percent.map_or_else(String::new, |p| format!(", {p} %"));
            target.token = Some(pending.token);
            (plan.target, plan.failures) = (Some(target), 0);
            Ok(plan.again(pending.retry_after, format!("the back end makes the new object{percent}")))
        }
        Err(e) if e.kind == ErrorKind::LeaseLost => Err(TaskError::Fenced),
        Err(e) => {
            tracing::warn!(volume_id = %volume.id, host = target.host, error = %e, "the driver did not make the new object");
            plan.failures += 1;
            if e.kind == ErrorKind::NotFound && target.token.take().is_some() {
                // the array has forgotten the work's outcome: the verb itself finds it
                plan.target = Some(target);
                return Ok(plan.again(Duration::ZERO, e.to_string()));
            }
            plan.target = Some(target);
            if let Some(after) = repeats::again(&e, plan.failures) {
                return Ok(plan.again(after, e.to_string()));
            }
            // the one that failed counts too
            if e.worth_moving_on() && plan.to_host.is_none() && plan.given_up.len() + 1 < repeats::most_pools(&cx.app) {
                return move_on(cx, plan, &e).await;
            }
            let why = Why(Detail::DriverFailedCreate, format!("{} The volume is where it was.", e.user_text()));
            give_up::give_up(cx, plan, why).await.map(ControlFlow::Break)
        }
    }
}

/// The create itself, or the question after a create that goes on in the array.
async fn ask(cx: &JobContext, target: &Target) -> DriverResult<Answer<VolumeUpdate>> {
    let backend = cx.app.drivers.backend(&target.object.backend)?;
    let Some(token) = &target.token else {
        return backend.need_volumes()?.create(&support::call(cx, &target.object.volume.id), &target.object.volume).await;
    };
    match backend.need_poll()?.poll(&support::call(cx, "poll"), token).await? {
        PollOutcome::Pending(pending) => Ok(Answer::Pending(pending)),
        PollOutcome::Volume(update) => Ok(Answer::Done(update)),
        other => Err(DriverError::wrong_answer(format!("the work of a volume's create ended as {other:?}"))),
    }
}

/// This pool is done with: what may be left there is a clean-up job's, and the next run chooses another one.
async fn move_on(cx: &JobContext, plan: &mut Plan, e: &DriverError) -> Stage {
    let Some(target) = plan.target.take() else { return Ok(ControlFlow::Continue(())) };
    let mut tx = cx.app.store.begin().await?;
    let object = &target.object;
    cleanup::leave(&mut tx, cx, &object.backend, &object.leftover(cx, false)).await?;
    tx.forget_claim(&object.volume.id).await?;
    plan.given_up.push(target.host.clone());
    plan.refused = Some(e.user_text().to_owned());
    plan.failures = 0;
    cx.commit_noted(tx, &json!(plan), "looks for another pool").await?;
    cx.leave_lane();
    Ok(plan.again(Duration::ZERO, e.to_string()))
}
