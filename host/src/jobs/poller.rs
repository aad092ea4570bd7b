//! Claiming what waits in the table: jobs for which there was no room, retries, jobs of dead workers, jobs put in by others.
//!
//! Woken by this process, by an announcement, or by the clock. Each back end is served by itself with the room its own lane
//! has, so the length of one queue does not matter to another.

use std::time::Duration;

use rand::Rng;

use super::Jobs;
use crate::store::StoreResult;

/// Runs until the queue stops.
pub(super) async fn run(jobs: Jobs) {
    loop {
        let pause = jobs.inner.options.poll.mul_f64(rand::rng().random_range(0.8..1.2));
        tokio::select! {
            () = jobs.inner.stop.cancelled() => return,
            () = jobs.inner.lanes.wake.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
        if let Err(e) = claim_all(&jobs).await {
            tracing::warn!(error = %e, "cannot claim jobs; trying again");
            tokio::time::sleep(Duration::from_millis(200)).await;
            jobs.wake();
        }
    }
}

async fn claim_all(jobs: &Jobs) -> StoreResult<()> {
    for backend in jobs.inner.store.ready_lanes().await? {
        claim_lane(jobs, &backend).await?;
    }
    Ok(())
}

async fn claim_lane(jobs: &Jobs, backend: &str) -> StoreResult<()> {
    let store = &jobs.inner.store;
    let Some(lease) = jobs.lease() else { return Ok(()) };
    // taken before looking, so that a job inserted meanwhile finds no room and wakes us again
    let slots = jobs.inner.lanes.take_all(backend);
    if slots.is_empty() {
        return Ok(());
    }
    if !store.lane_is_due(backend).await? {
        jobs.inner.lanes.set_backlog(backend, false);
        return Ok(());
    }
    let room = slots.len();
    let mut tx = store.begin().await?;
    let claimed = tx.claim_lane(backend, lease.worker(), i64::try_from(room).unwrap_or(i64::MAX)).await?;
    tx.commit().await?;
    jobs.inner.lanes.set_backlog(backend, claimed.len() == room);
    for (claim, slot) in claimed.into_iter().zip(slots) {
        jobs.spawn(claim, lease.clone(), slot);
    }
    Ok(())
}
