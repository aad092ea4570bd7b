//! The loops: clock and kick, errors and panics, and that a duty is carried out by one process.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::json;
use stowage::{
    error::{Error, Result},
    reconcile::{Reconciler, Reconcilers, purge::Purge},
    store::sql::{jobs::JobFilter, tombstones::Tombstone},
};
use support::{both_databases, db::on_postgres, wait::until};

use crate::harness::{NEVER, Worker, job, options, settle, task};

struct Counting {
    every: Duration,
    duty: bool,
    runs: Arc<AtomicUsize>,
}

impl Reconciler for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }
    fn every(&self) -> Duration {
        self.every
    }
    fn is_duty(&self) -> bool {
        self.duty
    }
    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            match self.runs.fetch_add(1, Ordering::SeqCst) {
                0 => Ok("the first".into()),
                1 => Err(Error::invalid("the second")),
                2 => panic!("the third"),
                _ => Ok(String::new()),
            }
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_runs_at_once_and_when_kicked_and_survives_errors_and_panics() {
    let db = support::db::Db::sqlite().await;
    let w = Worker::start(&db.store, options(), []).await;
    let runs = Arc::new(AtomicUsize::new(0));
    let loops = Reconcilers::default();
    loops.start(&w.jobs, Arc::new(Counting { every: NEVER, duty: false, runs: runs.clone() }));
    let status = |n: u64| {
        let loops = loops.clone();
        async move { Some(loops.status()["counting"].clone()).filter(|s| s.runs == n) }
    };
    let first = until("the first run", || status(1)).await;
    assert_eq!((first.last_result.as_str(), first.last_error.as_str()), ("the first", ""));
    assert!(loops.kick("counting"));
    assert_eq!(until("the second run", || status(2)).await.last_error, "the second");
    loops.kick("counting");
    assert!(!until("the third run", || status(3)).await.last_error.is_empty());
    loops.kick("counting");
    assert!(until("the fourth run", || status(4)).await.last_error.is_empty());
    assert!(!loops.kick("no such loop"));
    loops.stop().await;
    loops.kick("counting");
    assert_eq!(runs.load(Ordering::SeqCst), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_duty_is_carried_out_by_one_of_two_processes_and_by_the_other_when_that_one_left() {
    on_postgres(|db| async move {
        let other = db.second_store().await;
        let (a, b) = (Worker::start(&db.store, options(), []).await, Worker::start(&other, options(), []).await);
        let (ra, rb) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let every = Duration::from_millis(50);
        let (la, lb) = (Reconcilers::default(), Reconcilers::default());
        la.start(&a.jobs, Arc::new(Counting { every, duty: true, runs: ra.clone() }));
        until("a to have the duty", || async { (ra.load(Ordering::SeqCst) > 0).then_some(()) }).await;
        lb.start(&b.jobs, Arc::new(Counting { every, duty: true, runs: rb.clone() }));
        until("b to see that the duty is elsewhere", || async { lb.status()["counting"].elsewhere.then_some(()) }).await;
        let begun = ra.load(Ordering::SeqCst);
        until("a to go on", || async { (ra.load(Ordering::SeqCst) > begun + 5).then_some(()) }).await;
        assert_eq!(rb.load(Ordering::SeqCst), 0);
        la.stop().await;
        a.jobs.shutdown(Duration::ZERO).await.unwrap();
        until("b to take the duty", || async { (rb.load(Ordering::SeqCst) > 0).then_some(()) }).await;
        other.close().await;
    })
    .await;
}

both_databases! {
    async fn what_has_served_its_time_is_purged_and_nothing_else(db) {
        let w = Worker::start(&db.store, options(), [task("quick", |cx| settle(cx, json!(null)))]).await;
        for n in 0..5 {
            w.answer(job("quick", &format!("v{n}"))).await;
        }
        let mut tx = db.store.begin().await.unwrap();
        tx.tombstone(&Tombstone { kind: "volume", id: "v1".into(), ..Tombstone::default() }).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(Purge::new(db.store.clone()).purge_all().await.unwrap(), 0, "all of it is young");
        let mut strict = Purge::new(db.store.clone());
        (strict.jobs, strict.tombstones) = (Duration::ZERO, Duration::ZERO);
        assert_eq!(strict.purge_all().await.unwrap(), 6);
        assert!(w.jobs.list(&JobFilter::default(), None, 9).await.unwrap().is_empty());
    }
}
