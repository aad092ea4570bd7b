//! The pool of a share that is being created: the first, and the next after one that failed.

use serde::{Deserialize, Serialize};

use super::{cleanup, repeats, share_support as support};
use crate::{
    clock,
    domain::share_type::ZONES,
    driver::DriverError,
    jobs::{JobContext, TaskError},
    scheduler::{self, Operation, PlacementRequest},
    service::share::{affinity::Hints, room},
    store::{StoreResult, Tx, sql::shares::ShareRow},
};

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The zone asked for; the share itself shows that of its pool.
    pub zone: Option<String>,
    /// The type's zones do not count.
    pub any_zone: bool,
    pub hints: Hints,
    /// Pools given up.
    pub given_up: Vec<String>,
    /// Not to be chosen again, `given_up` among them.
    pub excluded: Vec<String>,
    /// The pool given up last may hold something.
    pub leftover: bool,
    pub tried: super::tried::Tried,
    /// The driver works on it; how to ask.
    pub token: Option<String>,
    /// What went wrong last, for the user.
    pub last: Option<String>,
}

impl Progress {
    /// Whether the share is on a pool that was not given up.
    pub fn goes_on_with(&self, share: &ShareRow) -> bool {
        share.host.as_ref().is_some_and(|host| !self.given_up.contains(host))
    }

    /// The present pool is done with. The next run, which knows it from its payload, chooses another.
    pub async fn give_up(&mut self, cx: &JobContext, share: &ShareRow) -> StoreResult<()> {
        self.leftover = self.tried.uncertain;
        self.token = None;
        self.tried.failures = 0;
        if self.leftover {
            // the clean-up deletes by our id, wherever on this back end: the share must not come back to it
            let backend = share.backend().unwrap_or_default();
            self.excluded.extend(cx.app.store.pools_of(backend).await?.into_iter().map(|p| p.name));
        }
        let pool = share.host.clone().unwrap_or_default();
        self.excluded.push(pool.clone());
        self.given_up.push(pool);
        Ok(())
    }

    /// Counts a failure and keeps what the user may know of it.
    pub fn failed(&mut self, e: &DriverError) -> Option<std::time::Duration> {
        self.last = Some(e.user_text().to_owned());
        self.tried.again(e)
    }
}

/// What looking for a pool came to.
pub enum Placing {
    Placed(Box<ShareRow>),
    /// There may be one as soon as the back ends have reported.
    Wait(String),
    /// There is none: the transaction in which the caller ends the share, and why. `leftover` says whether a clean-up job
    /// was left for the pool given up last.
    Nowhere {
        tx: Tx,
        none: Option<scheduler::NoValidBackend>,
        leftover: bool,
    },
    /// The share is gone.
    Gone,
}

/// Gives the share its (next) pool.
pub async fn place(cx: &JobContext, share: &ShareRow, progress: &mut Progress) -> Result<Placing, TaskError> {
    // what is read from outside the transaction is read before it begins: SQLite's one writer is not kept waiting
    let request = request(cx, share, progress).await?;
    let given_up = match share.backend().filter(|_| progress.leftover) {
        Some(backend) => Some((backend.to_owned(), support::driver_share(cx, share).await?)),
        None => None,
    };
    let mut tx = cx.app.store.begin().await?;
    if let Some((backend, told)) = &given_up {
        cleanup::leave(&mut tx, cx, backend, told).await?;
    } else {
        // nothing was made on the pool before: its room is free at once
        tx.release_claim(&share.id).await?;
    }
    if progress.given_up.len() >= repeats::most_pools(&cx.app) {
        return Ok(Placing::Nowhere { tx, none: None, leftover: given_up.is_some() });
    }
    match scheduler::place(&mut tx, &request).await? {
        Ok(placed) => {
            if !tx.share_placed(&share.id, &placed.host, &placed.availability_zone, clock::now()).await? {
                tx.rollback().await?;
                return Err(TaskError::Other("the share left the state creating while it was being placed".to_owned()));
            }
            tx.move_job(&cx.job.id, &placed.backend).await?;
            let row = tx.share(&share.id).await?;
            cx.commit_step(tx).await?;
            progress.leftover = false;
            progress.tried.failures = 0;
            progress.tried.uncertain = false;
            progress.token = None;
            Ok(row.map_or(Placing::Gone, |row| Placing::Placed(Box::new(row))))
        }
        Err(none) if progress.given_up.is_empty() && none.worth_waiting() && room::just_started(&cx.app) => {
            tx.rollback().await?;
            Ok(Placing::Wait(format!("{}; the first reports are awaited", none.limit.user_text())))
        }
        Err(none) => {
            let none = progress.given_up.is_empty().then_some(none);
            Ok(Placing::Nowhere { tx, none, leftover: given_up.is_some() })
        }
    }
}

async fn request(cx: &JobContext, share: &ShareRow, progress: &Progress) -> StoreResult<PlacementRequest> {
    let mut request = room::request(&cx.app, share, Operation::Create, share.size_gib, &cx.job.request_id).await?;
    request.availability_zone = progress.zone.clone();
    if progress.any_zone {
        request.extra_specs.remove(ZONES);
    }
    request.exclude_pools = progress.excluded.clone();
    request.hints = progress.hints.for_scheduler();
    match &progress.hints.only_host {
        Some(pool) if pool.contains('#') => request.only_pool = Some(pool.clone()),
        only => request.only_backend = only.clone(),
    }
    if let Some(snapshot) = &share.snapshot_id {
        // beside what it is made of; where that is gone, nowhere
        let source = cx.app.store.share_snapshot(snapshot).await?.and_then(|s| s.host);
        request.only_pool = Some(source.unwrap_or_default());
    }
    Ok(request)
}
