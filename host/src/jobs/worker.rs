//! This process as a worker: registration, heartbeat, loss of the lease, and leaving.
//!
//! One row and one heartbeat however many jobs run. When the lease is lost (the process was stopped, the database was away
//! too long) every run is dropped, and the process registers under a new id: the old one can never write again.

use std::{
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use super::{Jobs, Lease, Registry, poller, runner::Team};
use crate::{
    program,
    store::{StoreResult, sql::jobs::CHANNEL},
};

/// SQLite's lease: longer than any process lives. The file's lock ends it.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// How long before they are cut calls are told at most.
const NOTICE: Duration = Duration::from_secs(2);

impl Jobs {
    /// Begins to take part in the work. On SQLite the jobs of an earlier process are taken over at once.
    ///
    /// # Errors
    /// The store did not answer; nothing was started.
    pub async fn start<A: Send + Sync + 'static>(&self, app: &Arc<A>, registry: Registry<A>) -> StoreResult<()> {
        if self.inner.crew.set(Box::new(Team { app: Arc::downgrade(app), registry })).is_err() {
            return Ok(()); // started already
        }
        self.inner.tasks.spawn(listen(self.clone()));
        if !self.inner.options.work {
            return Ok(());
        }
        let lease = register(self, self.inner.store.is_sqlite()).await?;
        self.inner.tasks.spawn(keep_lease(self.clone(), lease));
        self.inner.tasks.spawn(poller::run(self.clone()));
        self.wake();
        Ok(())
    }

    /// Leaves in good order: takes no more work, lets running jobs end for up to `grace`, then drops them and hands them
    /// back at once, so that another process need not wait for the lease. Shortly before, drivers that ask are told.
    ///
    /// # Errors
    /// The store did not answer; the jobs are taken over when the lease has expired.
    pub async fn shutdown(&self, grace: Duration) -> StoreResult<()> {
        self.inner.stop.cancel();
        let lease = self.inner.lease.write().unwrap_or_else(PoisonError::into_inner).take();
        self.inner.tasks.close();
        let notice = NOTICE.min(grace / 4);
        if tokio::time::timeout(grace - notice, self.inner.tasks.wait()).await.is_err() {
            self.is_leaving();
            let _ = tokio::time::timeout(notice, self.inner.tasks.wait()).await;
        }
        let Some(lease) = lease else { return Ok(()) };
        lease.lose();
        let _ = tokio::time::timeout(Duration::from_secs(1), self.inner.tasks.wait()).await;
        let mut tx = self.inner.store.begin().await?;
        let handed_back = tx.hand_back(lease.worker()).await?;
        tx.remove_worker(lease.worker()).await?;
        if handed_back > 0 {
            tx.notify(CHANNEL, "").await?;
        }
        tx.commit().await?;
        tracing::info!(worker = lease.worker(), handed_back, "worker left");
        Ok(())
    }

    /// Stops as a killed process does: no run goes on, nothing is written, the lease stays until it expires.
    pub fn abandon(&self) {
        self.inner.stop.cancel();
        let lease = self.inner.lease.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(lease) = lease {
            lease.lose();
        }
        self.inner.tasks.close();
    }
}

/// Registers under a new id and makes it the current lease.
async fn register(jobs: &Jobs, alone: bool) -> StoreResult<Lease> {
    let store = &jobs.inner.store;
    let worker = uuid::Uuid::new_v4().to_string();
    let label = program::label();
    let length = if store.is_sqlite() { FOR_EVER } else { jobs.inner.options.lease };
    let sent = Instant::now();
    let mut tx = store.begin().await?;
    let mut taken_over = 0;
    if alone {
        tx.remove_all_workers().await?;
        taken_over = tx.take_over_jobs().await?;
    }
    tx.add_worker(&worker, &label, length).await?;
    tx.commit().await?;
    let lease = Lease::new(worker, (!store.is_sqlite()).then(|| sent + length));
    *jobs.inner.lease.write().unwrap_or_else(PoisonError::into_inner) = Some(lease.clone());
    tracing::info!(worker = lease.worker(), label, taken_over, "worker registered");
    Ok(lease)
}

/// Keeps the lease alive; registers anew when it was lost.
async fn keep_lease(jobs: Jobs, mut lease: Lease) {
    loop {
        tokio::select! {
            () = jobs.inner.stop.cancelled() => return keep_while_leaving(&jobs, &lease).await,
            () = beat_until_lost(&jobs, &lease) => {}
        }
        lease.lose();
        *jobs.inner.lease.write().unwrap_or_else(PoisonError::into_inner) = None;
        metrics::counter!("stowage_worker_leases_lost_total").increment(1);
        tracing::error!(worker = lease.worker(), "the lease was lost: every running job is dropped and goes to another worker");
        lease = loop {
            if jobs.inner.stop.is_cancelled() {
                return;
            }
            match register(&jobs, false).await {
                Ok(lease) => break lease,
                Err(e) => {
                    tracing::warn!(error = %e, "cannot register as a worker; trying again");
                    tokio::time::sleep(jobs.inner.options.poll).await;
                }
            }
        };
        jobs.wake();
    }
}

/// Running jobs still need the lease during shutdown's grace.
async fn keep_while_leaving(jobs: &Jobs, lease: &Lease) {
    tokio::select! {
        () = lease.token().cancelled() => {}
        () = no_run_left(jobs) => {}
        () = beat_until_lost(jobs, lease) => lease.lose(),
    }
}

async fn no_run_left(jobs: &Jobs) {
    while !jobs.running().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Sends heartbeats; returns when the lease is over, by the database's word or by our own clock.
async fn beat_until_lost(jobs: &Jobs, lease: &Lease) {
    if jobs.inner.store.is_sqlite() {
        return std::future::pending().await;
    }
    let length = jobs.inner.options.lease;
    let mut pause = length / 3;
    loop {
        tokio::time::sleep(pause.min(lease.left())).await;
        if !lease.is_held() {
            return;
        }
        let sent = Instant::now();
        match tokio::time::timeout(lease.left(), renew(jobs, lease, length)).await {
            Ok(Ok(true)) => {
                lease.extend(sent + length);
                pause = length / 3;
            }
            Ok(Ok(false)) => return,
            Ok(Err(e)) => {
                tracing::warn!(error = %e, "heartbeat failed; trying again");
                pause = length / 20;
            }
            Err(_) => return,
        }
    }
}

async fn renew(jobs: &Jobs, lease: &Lease, length: Duration) -> StoreResult<bool> {
    let mut tx = jobs.inner.store.begin().await?;
    let ours = tx.renew_worker(lease.worker(), length).await?;
    tx.commit().await?;
    Ok(ours)
}

/// PostgreSQL: hears other processes. Losing the connection costs only speed.
async fn listen(jobs: Jobs) {
    loop {
        tokio::select! {
            () = jobs.inner.stop.cancelled() => return,
            end = hear(&jobs) => match end {
                Ok(()) => return,
                Err(e) => tracing::warn!(error = %e, "cannot listen for announcements; polling goes on"),
            }
        }
        tokio::time::sleep(jobs.inner.options.poll).await;
    }
}

async fn hear(jobs: &Jobs) -> StoreResult<()> {
    let Some(mut listener) = jobs.inner.store.job_listener().await? else { return Ok(()) };
    loop {
        let payload = listener.next().await?;
        if payload.is_empty() {
            jobs.wake();
        } else {
            jobs.inner.waiters.look_at(&payload);
        }
    }
}
