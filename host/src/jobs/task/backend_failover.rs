//! `backend.failover`: the volumes of a back end are served from another array.
//!
//! Three steps, each of which may be repeated: the driver says which target is meant (until then nothing is changed, and whatever
//! fails leaves the back end as it was); the replicated volumes have their turn, some hundreds a call, each batch written with its place
//! in the row order; the driver is told that this was all. What is not replicated is left behind in `error` when the target is known.
//! A failure in between ends in `failover-error`, with a reason: what has been served by the target stays so, and asking again goes on
//! from there.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    block_support as support,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    driver::{DriverError, DriverResult},
    jobs::{JobContext, Outcome, Task, TaskError},
    service::block_service::failover::{FAILBACK, KIND},
    store::sql::{replication::Standing, volumes::VolumeRow},
};

pub struct BackendFailover;

/// Volumes of one call.
const BATCH: i64 = 200;
/// Why a back end that has failed over is given nothing new.
const OVER: &str = "failed-over";
/// How the reason begins after a fail-over that did not end well.
const FAILED: &str = "failover failed";
/// Longest reason that is kept.
const REASON: usize = 1000;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Plan {
    asked: Option<String>,
    before: Standing,
    /// As the driver names it; none: it was not asked yet.
    target: Option<String>,
    /// The last volume that had its turn.
    after: String,
    /// All had.
    walked: bool,
    done: u64,
    lost: u64,
    /// Of the first that was lost.
    why: Option<String>,
    tried: Tried,
}

impl Plan {
    /// An operator or the configuration had switched it off before: it stays so, for the same reason.
    fn switched_off_by_others(&self) -> bool {
        !self.before.enabled && !self.before.disabled_reason.as_deref().is_some_and(|r| r == OVER || r.starts_with(FAILED))
    }

    fn disabled_reason(&self, ours: &str) -> Option<String> {
        if self.switched_off_by_others() { self.before.disabled_reason.clone() } else { Some(ours.chars().take(255).collect()) }
    }
}

impl Task for BackendFailover {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut plan = read(&cx.job.payload);
            plan.tried = plan.tried.begin(cx.job.attempts);
            step(cx, plan).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move { give_up(cx, &read(&cx.payload()), "it did not end in time").await })
    }
}

fn read(payload: &Value) -> Plan {
    serde_json::from_value(payload.clone()).unwrap_or_default()
}

fn host(cx: &JobContext) -> &str {
    &cx.job.resource_id
}

async fn step(cx: &JobContext, mut plan: Plan) -> Result<Outcome, TaskError> {
    let done = match plan.target.clone() {
        None => choose(cx, &mut plan).await?,
        Some(target) if !plan.walked => batch(cx, &mut plan, &target).await?,
        Some(target) => match complete(cx, &target).await {
            Ok(()) => return end(cx, &plan, &target).await,
            Err(e) => Err(e),
        },
    };
    match done {
        Ok(()) => {
            let reason = format!("{} volumes had their turn, {} are lost", plan.done, plan.lost);
            Ok(Outcome::Again { after: std::time::Duration::ZERO, payload: json!(plan), reason })
        }
        Err(e) => failed(cx, plan, &e).await,
    }
}

async fn failed(cx: &JobContext, mut plan: Plan, e: &DriverError) -> Result<Outcome, TaskError> {
    unless_fenced(e)?;
    match plan.tried.again(e) {
        Some(after) => Ok(Outcome::Again { after, payload: json!(plan), reason: e.to_string() }),
        None => give_up(cx, &plan, &e.to_string()).await,
    }
}

async fn choose(cx: &JobContext, plan: &mut Plan) -> Result<DriverResult<()>, TaskError> {
    let target = match ask_target(cx, plan.asked.as_deref()).await {
        Ok(target) => target,
        Err(e) => return Ok(Err(e)),
    };
    let mut tx = cx.app.store.begin().await?;
    if target != FAILBACK {
        let left = tx.leave_unreplicated_behind(host(cx), clock::now()).await?;
        tracing::warn!(
            host = host(cx),
            target,
            left_behind = left,
            "the back end fails over; volumes that are not replicated are in error"
        );
    }
    plan.target = Some(target);
    plan.tried = plan.tried.afresh();
    cx.commit_noted(tx, &json!(plan), "the target is known").await?;
    Ok(Ok(()))
}

async fn ask_target(cx: &JobContext, asked: Option<&str>) -> DriverResult<String> {
    let backend = cx.app.drivers.backend(host(cx))?;
    backend.need_volume_replication()?.choose(&support::call(cx, "choose"), asked).await
}

async fn batch(cx: &JobContext, plan: &mut Plan, target: &str) -> Result<DriverResult<()>, TaskError> {
    let rows = cx.app.store.replicated_volumes_after(host(cx), &plan.after, BATCH).await?;
    let Some(last) = rows.last().map(|v| v.id.clone()) else {
        plan.walked = true;
        return Ok(Ok(()));
    };
    let states = match fail_over(cx, &plan.after, target, &rows).await? {
        Ok(states) => states,
        Err(e) => return Ok(Err(e)),
    };
    let status = if target == FAILBACK { "enabled" } else { "failed-over" };
    let (mut tx, now) = (cx.app.store.begin().await?, clock::now());
    for volume in &rows {
        match states.get(volume.driver_id()) {
            Some(Ok(update)) => {
                let provider = (update.provider_id.as_deref(), update.provider_data.as_deref());
                tx.volume_failed_over(&volume.id, status, provider, now).await?;
            }
            other => {
                let why = other.and_then(|s| s.as_ref().err()).map_or("the driver said nothing of it", String::as_str);
                tracing::error!(host = host(cx), volume_id = volume.id, target, why, "a replicated volume is lost");
                plan.lost += 1;
                plan.why.get_or_insert_with(|| format!("{}: {why:.500}", volume.id));
                tx.volume_left_behind(&volume.id, now).await?;
            }
        }
    }
    plan.done += rows.len() as u64;
    plan.after = last;
    plan.tried = plan.tried.afresh();
    cx.commit_noted(tx, &json!(plan), &format!("{} volumes had their turn", plan.done)).await?;
    Ok(Ok(()))
}

type States = BTreeMap<String, Result<crate::driver::types::VolumeUpdate, String>>;

async fn fail_over(cx: &JobContext, after: &str, target: &str, rows: &[VolumeRow]) -> Result<DriverResult<States>, TaskError> {
    let mut volumes = Vec::with_capacity(rows.len());
    for row in rows {
        volumes.push(support::driver_volume(cx, row).await?);
    }
    let call = support::call(cx, &format!("failover:{after}"));
    let asked = async {
        let backend = cx.app.drivers.backend(host(cx))?;
        backend.need_volume_replication()?.failover(&call, target, &volumes).await
    };
    Ok(asked.await)
}

async fn complete(cx: &JobContext, target: &str) -> DriverResult<()> {
    let backend = cx.app.drivers.backend(host(cx))?;
    backend.need_volume_replication()?.complete(&support::call(cx, "complete"), target).await
}

async fn end(cx: &JobContext, plan: &Plan, target: &str) -> Result<Outcome, TaskError> {
    let after = if target == FAILBACK {
        let others = plan.switched_off_by_others();
        Standing { enabled: !others, disabled_reason: plan.before.disabled_reason.clone().filter(|_| others), ..Standing::default() }
    } else {
        Standing {
            enabled: false,
            disabled_reason: plan.disabled_reason(OVER),
            replication_status: Some("failed-over".to_owned()),
            active_backend_id: Some(target.to_owned()),
        }
    };
    let lost = plan.why.as_ref().map(|why| format!("{} of {} replicated volumes are lost, the first of them {why}", plan.lost, plan.done));
    tracing::warn!(host = host(cx), target, volumes = plan.done, lost = plan.lost, "the back end has failed over");
    write(cx, &after, lost.as_deref()).await
}

async fn give_up(cx: &JobContext, plan: &Plan, why: &str) -> Result<Outcome, TaskError> {
    let why: String = why.chars().take(REASON).collect();
    let Some(target) = &plan.target else {
        tracing::error!(host = host(cx), asked = plan.asked, why, "the back end does not fail over, and is as it was");
        let asked = plan.asked.as_deref().unwrap_or("a target of the driver's choice");
        return write(cx, &plan.before, Some(&format!("failover to {asked:.255} was not begun: {why}"))).await;
    };
    tracing::error!(host = host(cx), target, why, volumes = plan.done, "the fail-over failed");
    let reason = format!("{FAILED}: to {target}, after {} volumes: {why}", plan.done);
    let after = Standing {
        enabled: false,
        disabled_reason: plan.disabled_reason(&reason),
        replication_status: Some("failover-error".to_owned()),
        active_backend_id: plan.before.active_backend_id.clone(),
    };
    write(cx, &after, Some(&reason)).await
}

async fn write(cx: &JobContext, after: &Standing, reason: Option<&str>) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.failover_end(host(cx), after, reason, clock::now()).await?;
    settled(cx, tx).await
}
