//! Both objects are connected to this service, and the bytes go from one to the other.
//!
//! Connecting needs room in each back end's lane and the turn of the host, as for everybody else; the copy itself takes up none
//! of either. While it runs it is looked every now and then whether the move is still wanted.

use std::{ops::ControlFlow, time::Duration};

use serde_json::json;
use tokio::{sync::watch, time::Instant};

use super::{
    super::{attachment_connect, block_support as support, connect_turn, patience},
    Object, Plan, Stage, Why, give_up, mine,
};
use crate::{
    clock,
    copy::{self, CopyError, End, Order, Progress},
    driver::{
        DriverError, DriverResult, ErrorKind,
        types::{AccessMode, Connection},
    },
    jobs::{JobContext, Outcome, TaskError},
    notify::message::Detail,
};

/// Between two looks whether the move is still wanted.
const LOOK: Duration = Duration::from_millis(500);
/// Between two notes of how far it is.
const NOTE: Duration = Duration::from_secs(2);
/// The wait for room for one more copy.
const ROOM: Duration = Duration::from_secs(2);
/// How often a copy is begun.
const MOST_COPIES: u32 = 3;

pub async fn transfer(cx: &JobContext, plan: &mut Plan) -> Stage {
    let (Some(source), Some(target)) = (plan.source.clone(), plan.target.as_ref().map(|t| t.object.clone())) else {
        return Err(TaskError::Other("the plan names no source and no target".to_owned()));
    };
    if !plan.copied {
        let config = cx.app.config.get();
        let Some(_place) = cx.app.copies.enter(config.copy.concurrency) else {
            cx.leave_lane();
            return Ok(again(plan, ROOM, "as many copies run as may"));
        };
        let run = format!("{}.{}", cx.job.id, cx.job.generation);
        let before = plan.runs.clone();
        plan.runs.push(run.clone());
        // known before the first connect, so that it is taken back whatever becomes of this run
        cx.commit_noted(cx.app.store.begin().await?, &json!(plan), "connecting").await?;
        let from = match connect(cx, plan, &source, &before, &run, AccessMode::ReadOnly).await? {
            ControlFlow::Continue(connection) => connection,
            ControlFlow::Break(end) => return Ok(ControlFlow::Break(end)),
        };
        let to = match connect(cx, plan, &target, &before, &run, AccessMode::ReadWrite).await? {
            ControlFlow::Continue(connection) => connection,
            ControlFlow::Break(end) => return Ok(ControlFlow::Break(end)),
        };
        plan.runs = vec![run.clone()];
        plan.failures = 0;
        // a copy takes long, and neither back end's drivers
        if let Some(later) = cx.change_lane("", &json!(plan)).await {
            return Ok(ControlFlow::Break(later));
        }
        cx.commit_noted(cx.app.store.begin().await?, &json!(plan), "copying").await?;
        let initiator = copy::connector(&run).initiator.unwrap_or_default();
        let order = Order {
            from: End { connection: from, initiator: initiator.clone() },
            to: End { connection: to, initiator },
            size_gib: target.volume.size_gib,
            folder: config.copy_folder(),
        };
        if let ControlFlow::Break(end) = copy(cx, plan, &order).await? {
            return Ok(ControlFlow::Break(end));
        }
    }
    // the old object's connections end with the old object; the new one stays, so its own end first
    disconnect(cx, plan, &target).await
}

/// Ends what earlier runs have, and connects this one.
async fn connect(
    cx: &JobContext,
    plan: &mut Plan,
    object: &Object,
    before: &[String],
    run: &str,
    mode: AccessMode,
) -> Result<ControlFlow<Outcome, Connection>, TaskError> {
    if let Some(later) = cx.change_lane(&object.backend, &json!(plan)).await {
        return Ok(ControlFlow::Break(later));
    }
    let connector = copy::connector(run);
    let hosts: Vec<String> = before.iter().map(|r| copy::connector(r).host).chain([connector.host.clone()]).collect();
    let Some(_turn) = connect_turn::take_on(cx, &object.backend, hosts.iter().map(String::as_str)).await? else {
        return Ok(ControlFlow::Break(connect_turn::later(json!(plan))));
    };
    let connected: DriverResult<Connection> = async {
        let backend = cx.app.drivers.backend(&object.backend)?;
        for earlier in before {
            attachment_connect::end(cx, &backend, &object.volume, copy::connector(earlier)).await?;
        }
        let driver = backend.need_connection_info()?;
        let call = support::call(cx, &format!("connect {} {run}", object.volume.id));
        driver.validate_connector(&call, &connector).await?;
        driver.connect(&call, &object.volume, &cx.job.id, mode, &connector).await
    }
    .await;
    match connected {
        Ok(connection) => Ok(ControlFlow::Continue(connection)),
        Err(e) => failed(cx, plan, object, &e).await,
    }
}

async fn failed<C>(cx: &JobContext, plan: &mut Plan, object: &Object, e: &DriverError) -> Result<ControlFlow<Outcome, C>, TaskError> {
    if e.kind == ErrorKind::LeaseLost {
        return Err(TaskError::Fenced);
    }
    tracing::warn!(volume_id = %cx.job.resource_id, backend = object.backend, error = %e, "the driver did not connect the volume to this service");
    plan.failures += 1;
    if let Some(after) = patience::again(e, plan.failures) {
        return Ok(ControlFlow::Break(Outcome::Again { after, payload: json!(plan), reason: e.to_string() }));
    }
    let why = Why(Detail::CopyFailed, e.user_text().to_owned());
    give_up::give_up(cx, plan, why).await.map(ControlFlow::Break)
}

/// The copy, watched.
async fn copy(cx: &JobContext, plan: &mut Plan, order: &Order) -> Stage {
    let config = cx.app.config.get();
    let (tell, told) = watch::channel(Progress::default());
    let begun = Instant::now();
    let report = move |progress: Progress| {
        tell.send_replace(progress);
    };
    let copier = cx.app.copies.copier();
    let ended = tokio::select! {
        ended = copier.copy(order, &config.copy, &report) => ended,
        unwanted = tend(cx, plan, told) => {
            unwanted?;
            // what ran has ended with its future
            return give_up::abandon(cx, plan).await.map(ControlFlow::Break);
        }
    };
    let outcome = if ended.is_ok() { "done" } else { "failed" };
    metrics::counter!("stowage_volume_copies_total", "outcome" => outcome).increment(1);
    metrics::histogram!("stowage_volume_copy_seconds").record(begun.elapsed().as_secs_f64());
    match ended {
        Ok(()) => {
            plan.copied = true;
            let mut tx = cx.app.store.begin().await?;
            if !tx.volume_migrates(&cx.job.resource_id, &cx.job.id, "completing", clock::now()).await? {
                tx.rollback().await?;
                return give_up::abandon(cx, plan).await.map(ControlFlow::Break);
            }
            cx.commit_noted(tx, &json!(plan), "disconnecting").await?;
            Ok(ControlFlow::Continue(()))
        }
        Err(e) => copy_failed(cx, plan, &e).await,
    }
}

async fn copy_failed(cx: &JobContext, plan: &mut Plan, e: &CopyError) -> Stage {
    tracing::warn!(volume_id = %cx.job.resource_id, error = %e, remedy = ?e.remedy(), "the volume was not copied");
    plan.failed_copies += 1;
    if e.worth_repeating() && plan.failed_copies < MOST_COPIES {
        return Ok(again(plan, crate::jobs::backoff(i64::from(plan.failed_copies)), &e.to_string()));
    }
    give_up::give_up(cx, plan, Why(Detail::CopyFailed, e.user_text().to_owned())).await.map(ControlFlow::Break)
}

/// Writes down how far it is. Returns when the move is not wanted any more.
async fn tend(cx: &JobContext, plan: &Plan, told: watch::Receiver<Progress>) -> Result<(), TaskError> {
    let (mut noted, mut next) = (Progress::default(), Instant::now());
    loop {
        tokio::time::sleep(LOOK).await;
        if mine(cx).await?.is_none() {
            return Ok(());
        }
        let now = *told.borrow();
        if now != noted && Instant::now() >= next {
            cx.commit_noted(cx.app.store.begin().await?, &json!(plan), &now.to_string()).await?;
            (noted, next) = (now, Instant::now() + NOTE);
        }
    }
}

/// Ends this service's connections to the target. What cannot be ended now is left to the clean-up that the swap leaves.
async fn disconnect(cx: &JobContext, plan: &mut Plan, target: &Object) -> Stage {
    if let Some(later) = cx.change_lane(&target.backend, &json!(plan)).await {
        return Ok(ControlFlow::Break(later));
    }
    let hosts: Vec<String> = plan.runs.iter().map(|r| copy::connector(r).host).collect();
    let Some(_turn) = connect_turn::take_on(cx, &target.backend, hosts.iter().map(String::as_str)).await? else {
        return Ok(ControlFlow::Break(connect_turn::later(json!(plan))));
    };
    let ended: DriverResult<()> = async {
        let backend = cx.app.drivers.backend(&target.backend)?;
        for run in &plan.runs {
            attachment_connect::undo(cx, &backend, &target.volume, copy::connector(run)).await?;
        }
        Ok(())
    }
    .await;
    match ended {
        Ok(()) => {
            plan.let_go = true;
            Ok(ControlFlow::Continue(()))
        }
        Err(e) if e.kind == ErrorKind::LeaseLost => Err(TaskError::Fenced),
        Err(e) => {
            plan.failures += 1;
            match patience::again(&e, plan.failures) {
                Some(after) => Ok(again(plan, after, &e.to_string())),
                None => {
                    tracing::warn!(volume_id = %cx.job.resource_id, backend = target.backend, error = %e, "the copy is done and still connected; a clean-up ends that");
                    Ok(ControlFlow::Continue(()))
                }
            }
        }
    }
}

fn again(plan: &Plan, after: Duration, reason: &str) -> ControlFlow<Outcome> {
    ControlFlow::Break(Outcome::Again { after, payload: json!(plan), reason: reason.to_owned() })
}
