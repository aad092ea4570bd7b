//! `volume.create`: choose a pool, have the driver make the volume there, write what it said.
//!
//! Steps, each of which a later run finds done: (1) the pool, in one transaction with the room it takes and the volume's
//! `host`; (2) the driver's create, keyed by the volume's id; (3) the result. A failure that may have done something is
//! first repeated on the same back end, and stays in mind whatever the repeats answer; a pool that is given up is written into the payload before another is chosen, and
//! if something may be left there, the transaction that chooses the next one leaves a clean-up job. After `scheduler.max_attempts` pools,
//! or when none is left, the volume ends in `error`, without a host, with a message.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{block_support as support, cleanup, repeats, snapshot_support::lost_a_run, volume_source};
use crate::{
    clock,
    domain::{volume::VolumeStatus, volume_type},
    driver::{
        DriverError, DriverResult, ErrorKind,
        types::{self, Answer, PollOutcome, VolumeUpdate},
    },
    error::Kind,
    jobs::{JobContext, JobFault, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    scheduler::{self, Hints, NoValidBackend, Operation, PlacementRequest},
    service::volume::{
        destroy::{event, event_now},
        follow, room,
    },
    store::{
        Tx,
        sql::volumes::{CreatedVolume, VolumeRow},
    },
};

pub struct VolumeCreate;

/// What a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Progress {
    /// Pools given up.
    given_up: Vec<String>,
    /// Not to be chosen again, `given_up` among them.
    excluded: Vec<String>,
    /// The present pool may hold something: a failure there, or a run of which nothing is known, may have made it.
    uncertain: bool,
    /// The last run that ended with what stands here.
    ended: i64,
    /// The pool given up last may hold something.
    leftover: bool,
    /// Failures in a row on the present pool.
    failures: u32,
    /// The driver works on it; how to ask.
    token: Option<String>,
    /// What went wrong last, for the user.
    last: Option<String>,
    /// `same_host`, `different_host`.
    hints: serde_json::Value,
}

/// How long after the start of this process a create waits for back ends that have not reported yet.
const FIRST_REPORTS: Duration = Duration::from_secs(60);
const FIRST_REPORTS_POLL: Duration = Duration::from_millis(500);

/// What looking for a pool came to.
enum Placing {
    Placed(Box<VolumeRow>),
    /// There is none (or the volume is gone), and the job has been settled.
    Ended,
    /// There may be one as soon as the back ends have reported.
    Wait(String),
}

pub(super) fn just_started(cx: &JobContext) -> bool {
    clock::now() - cx.app.started_at < clock::micros(FIRST_REPORTS)
}

impl Task for VolumeCreate {
    fn kind(&self) -> &'static str {
        "volume.create"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut progress: Progress = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            progress.uncertain |= lost_a_run(progress.ended, cx.job.attempts);
            progress.ended = cx.job.attempts;
            let Some(volume) = cx.app.store.volume(&cx.job.resource_id).await? else { return dropped(cx).await };
            if volume.status != VolumeStatus::Creating.as_str() {
                // deleted by force meanwhile: that job comes next and cleans up; or an operator said that it is something else
                return dropped(cx).await;
            }
            let volume = match &volume.host {
                Some(host) if !progress.given_up.contains(host) => volume,
                _ => match self.place(cx, volume, &mut progress).await? {
                    Placing::Placed(placed) => *placed,
                    Placing::Ended => return Ok(Outcome::Settled),
                    Placing::Wait(reason) => return Ok(again(progress, FIRST_REPORTS_POLL, reason)),
                },
            };
            let backend = volume.backend().unwrap_or_default().to_owned();
            if let Some(later) = cx.change_lane(&backend, &json!(progress)).await {
                return Ok(later);
            }
            let told = support::driver_volume(cx, &volume).await?;
            let answer = ask_driver(cx, &backend, &volume, &told, progress.token.as_deref()).await?;
            self.conclude(cx, &volume, &backend, &told, progress, answer).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let volume = cx.app.store.volume(&cx.job.resource_id).await?.filter(|v| v.status == VolumeStatus::Creating.as_str());
            let Some(volume) = volume else { return dropped(cx).await };
            // read before the transaction begins, as in `place`
            let leftover = match volume.backend() {
                Some(backend) => Some((backend, support::driver_volume(cx, &volume).await?)),
                None => None,
            };
            let mut tx = cx.app.store.begin().await?;
            if let Some((backend, told)) = &leftover {
                cleanup::leave(&mut tx, cx, backend, told).await?;
            }
            let action = if volume.host.is_some() { Action::CreateVolumeFromBackend } else { Action::ScheduleAllocateVolume };
            fail(cx, tx, &volume, true, action, Detail::TookTooLong, "The storage back end did not finish in time.").await
        })
    }
}

impl VolumeCreate {
    /// Gives the volume its (next) pool.
    async fn place(&self, cx: &JobContext, volume: VolumeRow, progress: &mut Progress) -> Result<Placing, TaskError> {
        // what is read from outside the transaction is read before it begins: SQLite's one writer is not kept waiting
        let request = self.request(cx, &volume, progress).await?;
        let given_up = match volume.backend().filter(|_| progress.leftover) {
            Some(backend) => Some((backend.to_owned(), support::driver_volume(cx, &volume).await?)),
            None => None,
        };
        let mut tx = cx.app.store.begin().await?;
        if let Some((backend, told)) = &given_up {
            cleanup::leave(&mut tx, cx, backend, told).await?;
        } else {
            // nothing was made on the pool before: its room is free at once
            tx.release_claim(&volume.id).await?;
        }
        let may_go_on = progress.given_up.len() < repeats::most_pools(&cx.app);
        let placed = if may_go_on { Some(scheduler::place(&mut tx, &request).await?) } else { None };
        match placed {
            Some(Ok(placed)) => {
                if !tx.volume_placed(&volume.id, &placed.host, clock::now()).await? {
                    tx.rollback().await?;
                    return Err(TaskError::Other("the volume left the state creating while it was being placed".to_owned()));
                }
                tx.move_job(&cx.job.id, &placed.backend).await?;
                let row = tx.volume(&volume.id).await?;
                cx.commit_step(tx).await?;
                progress.failures = 0;
                progress.leftover = false;
                progress.uncertain = false;
                progress.token = None;
                Ok(row.map_or(Placing::Ended, |row| Placing::Placed(Box::new(row))))
            }
            Some(Err(none)) if progress.given_up.is_empty() && none.worth_waiting() && just_started(cx) => {
                tx.rollback().await?;
                Ok(Placing::Wait(format!("{}; the first reports are awaited", none.limit.user_text())))
            }
            Some(Err(NoValidBackend { limit, .. })) if progress.given_up.is_empty() => {
                let mut extra = limit.user_text().to_owned();
                extra.push('.');
                fail(cx, tx, &volume, false, Action::ScheduleAllocateVolume, Detail::NotEnoughSpace, &capitalised(&extra)).await?;
                Ok(Placing::Ended)
            }
            Some(Err(_)) | None => {
                let why = progress.last.clone().unwrap_or_default();
                fail(cx, tx, &volume, given_up.is_some(), Action::CreateVolumeFromBackend, Detail::DriverFailedCreate, &why).await?;
                Ok(Placing::Ended)
            }
        }
    }

    async fn request(&self, cx: &JobContext, volume: &VolumeRow, progress: &Progress) -> Result<PlacementRequest, TaskError> {
        let mut extra_specs = support::specs_of(cx, volume).await?;
        if volume.multiattach {
            extra_specs.insert(volume_type::MULTIATTACH.to_owned(), volume_type::IS_TRUE.to_owned());
        }
        let qos = support::qos_of_type(cx, &volume.volume_type_id).await?.map(|q| q.specs).unwrap_or_default();
        Ok(PlacementRequest {
            exclude_pools: progress.excluded.clone(),
            only_pool: volume_source::pool_of_source(cx, volume).await?,
            hints: Hints::from_json(&progress.hints),
            operation: Operation::Create,
            options: room::options(&cx.app),
            ..PlacementRequest::of_volume(volume, &cx.job.request_id, extra_specs, qos)
        })
    }

    /// What the driver's answer means.
    async fn conclude(
        &self,
        cx: &JobContext,
        volume: &VolumeRow,
        backend: &str,
        told: &types::Volume,
        mut progress: Progress,
        answer: DriverResult<Answer<VolumeUpdate>>,
    ) -> Result<Outcome, TaskError> {
        match answer {
            Ok(Answer::Done(update)) => succeed(cx, volume, backend, update).await,
            Ok(Answer::Pending(pending)) => {
                progress.failures = 0;
                progress.uncertain = true;
                progress.token = Some(pending.token);
                let percent = pending.percent.map_or_else(String::new, |p| format!(", {p} %"));
                Ok(again(progress, pending.retry_after, format!("the back end works on it{percent}")))
            }
            Err(e) if e.kind == ErrorKind::LeaseLost => Err(TaskError::Fenced),
            Err(e) => {
                tracing::warn!(volume_id = %volume.id, host = volume.host, error = %e, "the driver did not create the volume");
                progress.failures += 1;
                progress.uncertain |= e.may_have_happened();
                progress.last = Some(e.user_text().to_owned());
                if e.kind == ErrorKind::NotFound && progress.token.take().is_some() {
                    // the array has forgotten the work's outcome: the verb itself finds it
                    return Ok(again(progress, Duration::ZERO, e.to_string()));
                }
                if let Some(after) = repeats::again(&e, progress.failures) {
                    return Ok(again(progress, after, e.to_string()));
                }
                if !e.worth_moving_on() {
                    return self.give_up(cx, volume, backend, told, progress.uncertain, &e).await;
                }
                self.move_on(cx, volume, backend, progress, &e).await
            }
        }
    }

    /// This pool is done with. The next run, which knows it from its payload, chooses another.
    async fn move_on(
        &self,
        cx: &JobContext,
        volume: &VolumeRow,
        backend: &str,
        mut progress: Progress,
        e: &DriverError,
    ) -> Result<Outcome, TaskError> {
        let pool = volume.host.clone().unwrap_or_default();
        progress.leftover = progress.uncertain;
        progress.failures = 0;
        progress.token = None;
        if progress.leftover {
            // the clean-up deletes by our id, wherever on this back end: the volume must not come back to it
            progress.excluded.extend(cx.app.store.pools_of(backend).await?.into_iter().map(|p| p.name));
        }
        progress.excluded.push(pool.clone());
        progress.given_up.push(pool);
        // looking for another pool must not wait for room on the one that failed
        cx.leave_lane();
        Ok(again(progress, Duration::ZERO, e.to_string()))
    }

    /// No other pool can do better.
    async fn give_up(
        &self,
        cx: &JobContext,
        volume: &VolumeRow,
        backend: &str,
        told: &types::Volume,
        leftover: bool,
        e: &DriverError,
    ) -> Result<Outcome, TaskError> {
        let mut tx = cx.app.store.begin().await?;
        if leftover {
            cleanup::leave(&mut tx, cx, backend, told).await?;
        }
        fail(cx, tx, volume, leftover, Action::CreateVolumeFromBackend, Detail::DriverFailedCreate, e.user_text()).await
    }
}

/// The create itself, or the question after a create that goes on in the array.
async fn ask_driver(
    cx: &JobContext,
    backend: &str,
    volume: &VolumeRow,
    told: &types::Volume,
    token: Option<&str>,
) -> Result<DriverResult<Answer<VolumeUpdate>>, TaskError> {
    let backend = match cx.app.drivers.backend(backend) {
        Ok(backend) => backend,
        Err(e) => return Ok(Err(e)),
    };
    let Some(token) = token else { return volume_source::make(cx, &backend, volume, told).await };
    let polled = async {
        match backend.need_poll()?.poll(&support::call(cx, "poll"), token).await? {
            PollOutcome::Pending(pending) => Ok(Answer::Pending(pending)),
            PollOutcome::Volume(update) => Ok(Answer::Done(update)),
            other => Err(DriverError::wrong_answer(format!("the work of a volume's create ended as {other:?}"))),
        }
    };
    Ok(polled.await)
}

async fn succeed(cx: &JobContext, volume: &VolumeRow, backend: &str, update: VolumeUpdate) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    // as it is when the volume gets it: a newer one would not reach a volume that is still being created
    let row = tx.backend_kept(backend).await?.ok_or_else(|| TaskError::Other(format!("{backend} has no row")))?;
    let made = CreatedVolume { provider_id: update.provider_id, provider_data: update.provider_data, identity: follow::identity(&row) };
    // false: it is being deleted by force; the delete finds the object by our id
    let whole = tx.volume_created(&volume.id, &made, clock::now()).await?;
    tx.volume_copied(&volume.id).await?;
    event_now(&mut tx, if whole { "volume.create.end" } else { "volume.create.error" }, &volume.id, &cx.job.request_id).await?;
    tx.settle_creation(&volume.id).await?;
    done(cx, tx).await
}

/// creating -> error without a host; `leftover` says whether a clean-up job was left for the pool given up last.
async fn fail(
    cx: &JobContext,
    mut tx: Tx,
    volume: &VolumeRow,
    leftover: bool,
    action: Action,
    detail: Detail,
    why: &str,
) -> Result<Outcome, TaskError> {
    tx.volume_copied(&volume.id).await?;
    if tx.volume_create_failed(&volume.id, false, clock::now()).await? {
        if leftover {
            tx.forget_claim(&volume.id).await?;
        } else {
            tx.release_claim(&volume.id).await?;
        }
        support::tell(&mut tx, cx, volume, action, detail, why).await?;
        event(&mut tx, "volume.create.error", volume, &cx.job.request_id).await?;
    } else {
        // an operator said meanwhile that it is something else: then it lies where it was placed
        tx.settle_creation(&volume.id).await?;
        event_now(&mut tx, "volume.create.error", &volume.id, &cx.job.request_id).await?;
    }
    cx.settle(tx, Err(JobFault { kind: Kind::Internal, message: why.to_owned() })).await?;
    Ok(Outcome::Settled)
}

/// Nothing to do any more; what was made may be there, and its room shows in a later report.
async fn dropped(cx: &JobContext) -> Result<Outcome, TaskError> {
    let mut tx = cx.app.store.begin().await?;
    tx.settle_creation(&cx.job.resource_id).await?;
    tx.volume_copied(&cx.job.resource_id).await?;
    event_now(&mut tx, "volume.create.error", &cx.job.resource_id, &cx.job.request_id).await?;
    done(cx, tx).await
}

async fn done(cx: &JobContext, tx: Tx) -> Result<Outcome, TaskError> {
    cx.settle(tx, Ok(json!(null))).await?;
    Ok(Outcome::Settled)
}

fn again(progress: Progress, after: Duration, reason: String) -> Outcome {
    Outcome::Again { after, payload: json!(progress), reason }
}

pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
