//! `volume.ensure_export`: the driver exports a connected volume again, as far as the array lost that.
//!
//! One call in the volume's own order, with the turn on its hosts where targets are shared. What is no longer connected when its
//! turn comes is not asked for: nothing is exported without an attachment. A disconnect that is asked for meanwhile comes after
//! it, and ends what it made.
//!
//! When the driver fails and repeats do not help, the volume and its attachments stay what they are: what uses it may
//! well go on (most arrays lose nothing), and an `error` would keep it from being detached and attached again, which is what helps
//! (docs/adr/0015). Its owner gets a message, the operator a line, a count and the driver's words in the run.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    backend_exports::under_way,
    block_support as support, connect_turn,
    connection_end::living,
    repeats,
    tried::{settled, unless_fenced},
};
use crate::{
    clock,
    driver::{DriverError, DriverResult, ErrorKind, types::Connector},
    jobs::{JobContext, NewJob, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    store::sql::{
        ensure::{EnsureCounts, EnsureRun},
        exports::ConnectedVolume,
        volumes::VolumeRow,
    },
};

/// The task.
pub const KIND: &str = "volume.ensure_export";

pub struct VolumeExport;

/// The job's arguments.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    run: String,
    failures: u32,
}

/// The job of one volume, for a run.
pub(super) fn job(cx: &JobContext, run: &EnsureRun, volume: ConnectedVolume) -> NewJob {
    NewJob {
        kind: KIND,
        resource_kind: "volume",
        order_key: volume.id.clone(),
        resource_id: volume.id,
        backend: Some(run.backend.clone()),
        payload: json!(Ask { run: run.id.clone(), failures: 0 }),
        max_age: cx.app.config.get().jobs.max_age,
        request_id: run.request_id.clone(),
        project_id: volume.project_id,
        user_id: volume.user_id,
    }
}

impl Task for VolumeExport {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            let Some(run) = under_way(cx, &cx.job.payload).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let Some((volume, ends)) = connected(cx, &run).await? else { return skipped(cx, &run, None).await };
            let Some(_turn) = connect_turn::take(cx, &volume, ends.iter().map(|end| end.host.as_str())).await? else {
                return Ok(connect_turn::later(json!(ask)));
            };
            let e = match ensure(cx, &run, &volume).await? {
                Ok(()) => return exported(cx, &run).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            if matches!(e.kind, ErrorKind::Unsupported | ErrorKind::NotImplemented) {
                return unsupported(cx, &run, &e).await;
            }
            ask.failures += 1;
            if let Some(after) = repeats::again(&e, ask.failures) {
                return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
            }
            failed(cx, &run, &volume, Detail::ExportNotEnsured, &e).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            let Some(run) = under_way(cx, &cx.job.payload).await? else { return settled(cx, cx.app.store.begin().await?).await };
            match connected(cx, &run).await? {
                Some((volume, _)) if ask.failures > 0 => {
                    let error = DriverError::new(ErrorKind::Deadline, "the volume was not exported again in time");
                    failed(cx, &run, &volume, Detail::TookTooLong, &error).await
                }
                // it never had its turn: nothing is known to be wrong with it
                Some(_) => skipped(cx, &run, Some("it was busy with something else")).await,
                None => skipped(cx, &run, None).await,
            }
        })
    }
}

/// The volume with those that it is connected to, while it is connected on the run's back end.
async fn connected(cx: &JobContext, run: &EnsureRun) -> Result<Option<(VolumeRow, Vec<Connector>)>, TaskError> {
    let Some(volume) = cx.app.store.volume(&cx.job.resource_id).await? else { return Ok(None) };
    let ends: Vec<Connector> = living(cx, &volume.id, None).await?.into_iter().map(|one| one.connector).collect();
    Ok((volume.backend() == Some(run.backend.as_str()) && !ends.is_empty()).then_some((volume, ends)))
}

async fn ensure(cx: &JobContext, run: &EnsureRun, volume: &VolumeRow) -> Result<DriverResult<()>, TaskError> {
    let told = support::driver_volume(cx, volume).await?;
    let answer = async {
        let backend = cx.app.drivers.backend(&run.backend)?;
        backend.need_connection_info()?.ensure_export(&support::call(cx, "ensure-export"), &told).await
    };
    Ok(answer.await)
}

async fn exported(cx: &JobContext, run: &EnsureRun) -> Result<Outcome, TaskError> {
    count(run, "ok");
    let mut tx = cx.app.store.begin().await?;
    tx.ensure_count(&run.id, EnsureCounts { unchanged: 1, ..EnsureCounts::default() }).await?;
    settled(cx, tx).await
}

async fn skipped(cx: &JobContext, run: &EnsureRun, why: Option<&str>) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.ensure_count(&run.id, EnsureCounts { skipped: 1, ..EnsureCounts::default() }).await?;
    if why.is_some() {
        tx.ensure_report(&run.id, &cx.job.resource_id, "skipped", why).await?;
    }
    settled(cx, tx).await
}

/// The array keeps its exports, or its driver cannot tell: no other volume is asked for.
async fn unsupported(cx: &JobContext, run: &EnsureRun, e: &DriverError) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    if tx.ensure_end(&run.id, "unsupported", Some(&e.to_string()), clock::now()).await? {
        tracing::info!(host = run.backend, "the driver exports nothing again; it is not asked for the rest");
    }
    settled(cx, tx).await
}

async fn failed(cx: &JobContext, run: &EnsureRun, volume: &VolumeRow, detail: Detail, e: &DriverError) -> Result<Outcome, TaskError> {
    tracing::error!(host = run.backend, volume_id = %volume.id, error = %e, "a connected volume could not be exported again: who uses it may have lost it");
    count(run, "failed");
    let mut tx = cx.app.store.begin().await?;
    tx.ensure_count(&run.id, EnsureCounts { failed: 1, ..EnsureCounts::default() }).await?;
    tx.ensure_report(&run.id, &volume.id, "failed", Some(&e.to_string())).await?;
    support::tell(&mut tx, cx, volume, Action::EnsureExport, detail, e.user_text()).await?;
    settled(cx, tx).await
}

fn count(run: &EnsureRun, outcome: &'static str) {
    metrics::counter!("stowage_exports_ensured_total", "backend" => run.backend.clone(), "outcome" => outcome).increment(1);
}
