//! Both objects are connected to this service, and the bytes go from one to the other.
//!
//! Connecting needs room in each back end's lane and the turn of the host, as for everybody else; the copy itself takes up none
//! of either. While it runs it is looked every now and then whether the move is still wanted.

use std::{ops::ControlFlow, time::Duration};

use serde_json::json;
use tokio::{sync::watch, time::Instant};

use super::{
    super::{block_support as support, connect_turn, connection_end, repeats},
    Object, Plan, Stage, Why, give_up, mine,
};
use crate::{
    clock,
    copy::{self, CopyError, End, Order, Progress},
    driver::{
        BackendConfig, DriverError, DriverResult, ErrorKind,
        portals::Portals,
        types::{AccessMode, Connection},
    },
    jobs::{JobContext, Outcome, TaskError, backoff},
    notify::message::Detail,
};

/// Between two looks whether the move is still wanted.
const LOOK: Duration = Duration::from_millis(500);
/// Between two notes of how far it is.
const NOTE: Duration = Duration::from_secs(2);
/// The least wait for room for one more copy. It grows: a machine that is emptied has hundreds that wait.
const ROOM: Duration = Duration::from_secs(1);
/// How often a copy is begun.
const MOST_COPIES: u32 = 3;

/// One of the two.
#[derive(Clone, Copy)]
enum Side {
    Source,
    Target,
}

impl Plan {
    fn object(&mut self, side: Side) -> Result<&mut Object, TaskError> {
        let object = match side {
            Side::Source => self.source.as_mut(),
            Side::Target => self.target.as_mut().map(|t| &mut t.object),
        };
        object.ok_or_else(|| TaskError::Other("the plan names no source and no target".to_owned()))
    }
}

pub async fn transfer(cx: &JobContext, plan: &mut Plan) -> Stage {
    if !plan.copied {
        let config = cx.app.config.get();
        let Some(_place) = cx.app.copies.enter(config.copy.concurrency) else {
            cx.leave_lane();
            plan.waits += 1;
            return Ok(plan.again(backoff(plan.waits.into()).max(ROOM), "as many copies run as may"));
        };
        plan.waits = 0;
        let run = format!("{}.{}", cx.job.id, cx.job.generation);
        let from = match connect(cx, plan, Side::Source, &run).await? {
            ControlFlow::Continue(connection) => connection,
            ControlFlow::Break(end) => return Ok(ControlFlow::Break(end)),
        };
        let to = match connect(cx, plan, Side::Target, &run).await? {
            ControlFlow::Continue(connection) => connection,
            ControlFlow::Break(end) => return Ok(ControlFlow::Break(end)),
        };
        plan.failures = 0;
        // a copy takes long, and neither back end's drivers
        if let Some(later) = cx.change_lane("", &json!(plan)).await {
            return Ok(ControlFlow::Break(later));
        }
        cx.commit_noted(cx.app.store.begin().await?, &json!(plan), "copying").await?;
        for (side, connection) in [(Side::Source, &from), (Side::Target, &to)] {
            if let Err(e) = copy::permitted(connection, &granted(cx, &plan.object(side)?.backend)) {
                return copy_failed(cx, plan, &e).await;
            }
        }
        let initiator = copy::connector(&run).initiator.unwrap_or_default();
        let end = |connection| End { connection: copy::by_portal(connection, plan.failed_copies), initiator: initiator.clone() };
        let order =
            Order { from: end(from), to: end(to), size_gib: plan.object(Side::Target)?.volume.size_gib, folder: config.copy_folder() };
        if let ControlFlow::Break(end) = copy(cx, plan, &order).await? {
            return Ok(ControlFlow::Break(end));
        }
    }
    // the old object's connections end with the old object; the new one stays, so its own end first
    disconnect(cx, plan).await
}

/// Where the operator lets this service connect for the back end.
fn granted(cx: &JobContext, backend: &str) -> Portals {
    let of = |config: &BackendConfig| Portals::granted(&config.grants.http, &config.grants.portals);
    if let Ok(live) = cx.app.drivers.backend(backend) {
        return of(&live.config);
    }
    // it is being replaced
    let name = backend.split_once('@').map_or(backend, |(_, name)| name);
    cx.app.config.get().backends.iter().find(|b| b.name == name).map(of).unwrap_or_default()
}

/// Ends what earlier runs have, and connects this one.
async fn connect(cx: &JobContext, plan: &mut Plan, side: Side, run: &str) -> Result<ControlFlow<Outcome, Connection>, TaskError> {
    let object = plan.object(side)?.clone();
    if let Some(later) = cx.change_lane(&object.backend, &json!(plan)).await {
        return Ok(ControlFlow::Break(later));
    }
    let connector = copy::connector(run);
    let hosts: Vec<String> = object.runs.iter().map(|r| copy::connector(r).host).chain([connector.host.clone()]).collect();
    let Some(_turn) = connect_turn::take_on(cx, &object.backend, hosts.iter().map(String::as_str)).await? else {
        return Ok(ControlFlow::Break(connect_turn::later(json!(plan))));
    };
    // known before it is connected, so that it is taken back whatever becomes of this run
    plan.object(side)?.runs.push(run.to_owned());
    cx.commit_noted(cx.app.store.begin().await?, &json!(plan), "connecting").await?;
    let mode = if matches!(side, Side::Source) { AccessMode::ReadOnly } else { AccessMode::ReadWrite };
    let connected: DriverResult<Connection> = async {
        let backend = cx.app.drivers.backend(&object.backend)?;
        for earlier in &object.runs {
            connection_end::end(cx, &backend, &object.volume, copy::connector(earlier)).await?;
        }
        let driver = backend.need_connection_info()?;
        let call = support::call(cx, &format!("connect {} {run}", object.volume.id));
        driver.validate_connector(&call, &connector).await?;
        driver.connect(&call, &object.volume, &cx.job.id, mode, &connector).await
    }
    .await;
    match connected {
        Ok(connection) => {
            plan.object(side)?.runs = vec![run.to_owned()];
            Ok(ControlFlow::Continue(connection))
        }
        Err(e) => failed(cx, plan, &object, &e).await,
    }
}

async fn failed<C>(cx: &JobContext, plan: &mut Plan, object: &Object, e: &DriverError) -> Result<ControlFlow<Outcome, C>, TaskError> {
    if e.kind == ErrorKind::LeaseLost {
        return Err(TaskError::Fenced);
    }
    tracing::warn!(volume_id = %cx.job.resource_id, backend = object.backend, error = %e, "the driver did not connect the volume to this service");
    plan.failures += 1;
    if let Some(after) = repeats::again(e, plan.failures) {
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
        Ok(()) => completing(cx, plan).await,
        Err(e) => copy_failed(cx, plan, &e).await,
    }
}

/// The bytes are there. That is written down also where the database fails at this very moment: with the end of this run.
async fn completing(cx: &JobContext, plan: &mut Plan) -> Stage {
    plan.copied = true;
    let written = async {
        let mut tx = cx.app.store.begin().await?;
        if !tx.volume_migrates(&cx.job.resource_id, &cx.job.id, "completing", clock::now()).await? {
            tx.rollback().await?;
            return Ok(false);
        }
        cx.commit_noted(tx, &json!(plan), "disconnecting").await?;
        Ok(true)
    }
    .await;
    match written {
        Ok(true) => Ok(ControlFlow::Continue(())),
        Ok(false) => give_up::abandon(cx, plan).await.map(ControlFlow::Break),
        Err(TaskError::Store(e)) => Ok(plan.again(backoff(1), format!("store: {e}"))),
        Err(e) => Err(e),
    }
}

async fn copy_failed(cx: &JobContext, plan: &mut Plan, e: &CopyError) -> Stage {
    tracing::warn!(volume_id = %cx.job.resource_id, error = %e, remedy = ?e.remedy(), "the volume was not copied");
    plan.failed_copies += 1;
    if e.worth_repeating() && plan.failed_copies < MOST_COPIES {
        return Ok(plan.again(backoff(plan.failed_copies.into()), e.to_string()));
    }
    give_up::give_up(cx, plan, Why(Detail::CopyFailed, e.user_text().to_owned())).await.map(ControlFlow::Break)
}

/// Writes down how far it is. Returns when the move is not wanted any more. A database that fails now and then ends no copy:
/// that is for the lease to say.
async fn tend(cx: &JobContext, plan: &Plan, told: watch::Receiver<Progress>) -> Result<(), TaskError> {
    let (mut noted, mut next) = (Progress::default(), Instant::now());
    loop {
        tokio::time::sleep(LOOK).await;
        let now = *told.borrow();
        let note = (now != noted && Instant::now() >= next).then_some(now);
        match look(cx, plan, note).await {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(TaskError::Store(e)) => {
                tracing::debug!(volume_id = %cx.job.resource_id, error = %e, "a copy cannot say how far it is");
                continue;
            }
            Err(e) => return Err(e),
        }
        if note.is_some() {
            (noted, next) = (now, Instant::now() + NOTE);
        }
    }
}

/// Whether the move is still wanted.
async fn look(cx: &JobContext, plan: &Plan, note: Option<Progress>) -> Result<bool, TaskError> {
    if mine(cx).await?.is_none() {
        return Ok(false);
    }
    if let Some(progress) = note {
        cx.commit_noted(cx.app.store.begin().await?, &json!(plan), &progress.to_string()).await?;
    }
    Ok(true)
}

/// Ends this service's connections to the target. What cannot be ended now is left to the clean-up that the swap leaves.
async fn disconnect(cx: &JobContext, plan: &mut Plan) -> Stage {
    let target = plan.object(Side::Target)?.clone();
    if let Some(later) = cx.change_lane(&target.backend, &json!(plan)).await {
        return Ok(ControlFlow::Break(later));
    }
    let hosts: Vec<String> = target.runs.iter().map(|r| copy::connector(r).host).collect();
    let Some(_turn) = connect_turn::take_on(cx, &target.backend, hosts.iter().map(String::as_str)).await? else {
        return Ok(ControlFlow::Break(connect_turn::later(json!(plan))));
    };
    let ended: DriverResult<()> = async {
        let backend = cx.app.drivers.backend(&target.backend)?;
        for run in &target.runs {
            connection_end::undo(cx, &backend, &target.volume, copy::connector(run)).await?;
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
            match repeats::again(&e, plan.failures) {
                Some(after) => Ok(plan.again(after, e.to_string())),
                None => {
                    tracing::warn!(volume_id = %cx.job.resource_id, backend = target.backend, error = %e, "the copy is done and still connected; a clean-up ends that");
                    Ok(ControlFlow::Continue(()))
                }
            }
        }
    }
}
