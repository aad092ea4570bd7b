//! Connects and disconnects of one (back end, connector host) take turns where targets are shared: one rescans, or takes down,
//! what the other is about to use.
//!
//! The turn is a row that names a running job; it ends by itself when that job ends, goes back to the queue, or is taken over
//! from a dead worker, so nothing is given back and nothing is held over a transaction. Jobs of one process first queue in
//! memory, so that they do not poll against each other (on SQLite there is no other process, and that is all). Whoever does
//! not get the turn soon goes back to the job queue: waiting takes up none of the back end's room.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    sync::{Mutex as Queue, OwnedMutexGuard},
    time::{Instant, timeout_at},
};

use crate::{
    jobs::{JobContext, Outcome, TaskError},
    store::sql::volumes::VolumeRow,
};

/// How long a job waits here, with its room on the back end, before it goes back to the queue: enough for a quick call of
/// another to end, too little to keep others off the back end.
const PATIENCE: Duration = Duration::from_millis(100);
/// The wait for the next try from there.
const PAUSE: Duration = Duration::from_millis(250);
/// Between two looks at a turn that another process has.
const FIRST_LOOK: Duration = Duration::from_millis(5);
const LAST_LOOK: Duration = Duration::from_millis(100);

type Queues = HashMap<(String, String), Weak<Queue<()>>>;

/// The queues of this process, by back end and host.
#[derive(Default)]
pub struct Turns(Mutex<Queues>);

impl Turns {
    fn queue(&self, backend: &str, host: &str) -> Arc<Queue<()>> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (backend.to_owned(), host.to_owned());
        if let Some(queue) = queues.get(&key).and_then(Weak::upgrade) {
            return queue;
        }
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::new(Queue::new(()));
        queues.insert(key, Arc::downgrade(&queue));
        queue
    }
}

/// The turns of one run of a job. Keep it until the driver has answered and the job has been settled.
#[derive(Default)]
pub(super) struct Held(#[expect(dead_code, reason = "kept for its drop")] Vec<OwnedMutexGuard<()>>);

/// The turn on every one of `hosts` on the volume's back end, where its targets are shared. None: it did not come soon.
pub(super) async fn take<'h>(
    cx: &JobContext,
    volume: &VolumeRow,
    hosts: impl IntoIterator<Item = &'h str>,
) -> Result<Option<Held>, TaskError> {
    let Some(backend) = volume.backend().filter(|_| volume.shared_targets != Some(false)) else { return Ok(Some(Held::default())) };
    take_on(cx, backend, hosts).await
}

/// As [`take`], on a back end of which it is not asked whether targets are shared there.
pub(super) async fn take_on<'h>(
    cx: &JobContext,
    backend: &str,
    hosts: impl IntoIterator<Item = &'h str>,
) -> Result<Option<Held>, TaskError> {
    let end = Instant::now() + PATIENCE;
    let mut held = Vec::new();
    // in order, so that two jobs with two hosts each do not wait for one another
    for host in hosts.into_iter().collect::<BTreeSet<_>>() {
        let Ok(guard) = timeout_at(end, cx.app.turns.queue(backend, host).lock_owned()).await else { return Ok(None) };
        held.push(guard);
        if !among_processes(cx, backend, host, end).await? {
            return Ok(None);
        }
    }
    Ok(Some(Held(held)))
}

async fn among_processes(cx: &JobContext, backend: &str, host: &str, end: Instant) -> Result<bool, TaskError> {
    if cx.app.store.is_sqlite() {
        return Ok(true);
    }
    let mut pause = FIRST_LOOK;
    loop {
        let mut tx = cx.app.store.begin().await?;
        if tx.take_connect_turn(backend, host, &cx.job.id, cx.job.generation).await? {
            cx.commit_step(tx).await?;
            return Ok(true);
        }
        tx.rollback().await?;
        if Instant::now() >= end {
            return Ok(false);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LAST_LOOK);
    }
}

/// What a run without its turn ends with.
pub(super) fn later(payload: Value) -> Outcome {
    Outcome::Again { after: PAUSE, payload, reason: "waits for another connection of the same host".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_host_of_one_back_end_has_one_queue_and_it_goes_with_the_last_who_waits() {
        let turns = Turns::default();
        let first = turns.queue("a", "h").lock_owned().await;
        assert!(turns.queue("a", "h").try_lock_owned().is_err());
        assert!(turns.queue("a", "i").try_lock_owned().is_ok());
        assert!(turns.queue("b", "h").try_lock_owned().is_ok());
        drop(first);
        assert!(turns.queue("a", "h").try_lock_owned().is_ok());
        drop(turns.queue("c", "h"));
        assert_eq!(turns.0.lock().unwrap().len(), 1);
    }
}
