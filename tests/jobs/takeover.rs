//! A worker that dies or loses its lease: its jobs go on elsewhere, and what it still writes matches no row.

use serde_json::json;
use sqlx::Connection;
use stowage::{
    jobs::{JobsOptions, TaskError},
    store::sql::jobs::JobFilter,
};
use support::{
    both_databases,
    db::{Db, on_postgres},
    wait::until,
};
use tokio::sync::mpsc;

use crate::harness::{Context, PATIENCE, Scripted, Worker, job, options, settle, task};

/// Hands its context to the test and hangs.
fn hanging(out: mpsc::UnboundedSender<Context>) -> Scripted {
    task("work", move |cx| {
        let out = out.clone();
        async move {
            let _inside = cx.app.enter();
            out.send(cx.clone()).unwrap();
            std::future::pending().await
        }
    })
}

fn working() -> Scripted {
    task("work", |cx| async move {
        let generation = cx.job.generation;
        settle(cx, json!(generation)).await
    })
}

/// Runs a job on a worker until it hangs, kills the worker, and starts another.
async fn killed(db: &Db) -> (Context, String, Worker) {
    let (send, mut receive) = mpsc::unbounded_channel();
    let first = Worker::start(&db.store, options(), [hanging(send)]).await;
    let id = first.enqueue(job("work", "v1")).await;
    let cx = receive.recv().await.unwrap();
    first.die().await;
    until("the dead worker's run to be gone", || async { (first.bench.running() == 0).then_some(()) }).await;
    let second = Worker::start(&db.store, options(), [working()]).await;
    (cx, id, second)
}

both_databases! {
    async fn a_dead_workers_job_is_repeated_with_the_next_generation(db) {
        let (_, id, second) = killed(&db).await;
        assert_eq!(second.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!(2));
    }

    async fn the_late_result_of_a_dead_worker_is_fenced_off_and_leaves_no_trace(db) {
        let (late, id, second) = killed(&db).await;
        second.jobs.wait(&id, PATIENCE).await.unwrap().unwrap();
        for _ in 0..2 {
            let mut tx = db.store.begin().await.unwrap();
            tx.set_setting("late", "written").await.unwrap();
            tx.publish(&stowage::notify::NewEvent { event_type: "late".into(), resource_id: "v1".into(), ..Default::default() }).await.unwrap();
            assert!(matches!(late.settle(tx, Ok(json!("late"))).await, Err(TaskError::Fenced)));
            let mut tx = db.store.begin().await.unwrap();
            tx.set_setting("late", "written").await.unwrap();
            assert!(matches!(late.commit_step(tx).await, Err(TaskError::Fenced)));
        }
        assert_eq!(db.store.setting("late").await.unwrap(), None);
        assert_eq!(db.store.setting("v1").await.unwrap().as_deref(), Some("2"), "the second run's result stands");
        assert_eq!(second.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!(2));
        assert!(db.store.due_events(9).await.unwrap().is_empty());
    }

    async fn a_dead_workers_lease_tells_its_runs_that_they_may_not_act_any_more(db) {
        let (late, _, _second) = killed(&db).await;
        assert!(!late.worker_lease().is_held());
        assert!(late.lease.is_cancelled());
    }

    async fn a_claim_whose_answer_was_lost_is_put_back_and_runs(db) {
        let w = Worker::start(&db.store, options(), [working()]).await;
        // as if the commit of a claim had reached the database and its answer had not reached us
        let lease = w.jobs.lease().unwrap();
        let mut tx = db.store.begin().await.unwrap();
        tx.insert_job("lost", &job("work", "v1"), Some(lease.worker())).await.unwrap().expect("claimed");
        tx.commit().await.unwrap();
        assert_eq!(w.jobs.wait("lost", PATIENCE).await.unwrap().unwrap(), json!(2));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_a_restart_takes_over_at_once_however_long_the_lease() {
    let db = Db::sqlite().await;
    let long = || JobsOptions { lease: PATIENCE * 10, poll: PATIENCE * 10, ..options() };
    let (send, mut receive) = mpsc::unbounded_channel();
    let first = Worker::start(&db.store, long(), [hanging(send)]).await;
    let ids = [first.enqueue(job("work", "v1")).await, first.enqueue(job("work", "v2")).await];
    receive.recv().await.unwrap();
    receive.recv().await.unwrap();
    first.die().await;
    let second = Worker::start(&db.store, long(), [working()]).await;
    for id in ids {
        assert_eq!(second.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!(2));
    }
    assert_eq!(db.store.workers().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres_a_silent_workers_jobs_stay_with_it_until_its_lease_has_expired() {
    on_postgres(|db| async move {
        let (send, mut receive) = mpsc::unbounded_channel();
        let first = Worker::start(&db.store, options(), [hanging(send)]).await;
        let id = first.enqueue(job("work", "v1")).await;
        receive.recv().await.unwrap();
        let second = Worker::start(&db.store, options(), [working()]).await;
        // alive: heartbeats keep the job where it is, well past one lease
        let before = db.store.workers().await.unwrap().into_iter().map(|w| w.lease_until).min().unwrap();
        until("two leases to pass", || async { (db.store.database_now().await.unwrap() > before + 2_000_000).then_some(()) }).await;
        let row = second.row(&id).await;
        assert_eq!((row.state.as_str(), row.generation), ("running", 1));
        first.die().await;
        assert_eq!(second.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!(2));
        until("the dead worker's row to go", || async { (db.store.workers().await.unwrap().len() == 1).then_some(()) }).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_finds_its_lease_lapsed_drops_its_runs_and_registers_under_a_new_id() {
    on_postgres(|db| async move {
        let (send, mut receive) = mpsc::unbounded_channel();
        let w = Worker::start(&db.store, options(), [hanging(send)]).await;
        let id = w.enqueue(job("work", "v1")).await;
        let first = receive.recv().await.unwrap();
        let old = first.worker_lease().worker().to_owned();
        // the database's clock decides: put the end of the lease into its past
        let mut c = sqlx::PgConnection::connect(&db.options.url).await.unwrap();
        sqlx::query("UPDATE workers SET lease_until = heartbeat_at - 1 WHERE id = $1").bind(&old).execute(&mut c).await.unwrap();
        let again = receive.recv().await.unwrap();
        assert_ne!(again.worker_lease().worker(), old);
        assert_eq!((again.job.id.as_str(), again.job.generation), (id.as_str(), 2));
        assert!(first.lease.is_cancelled() && !first.worker_lease().is_held());
        until("the first run to be dropped", || async { (w.bench.running() == 1).then_some(()) }).await;
        let tx = db.store.begin().await.unwrap();
        assert!(matches!(first.settle(tx, Ok(json!(1))).await, Err(TaskError::Fenced)));
        let tx = db.store.begin().await.unwrap();
        again.settle(tx, Ok(json!(2))).await.unwrap();
        assert_eq!(w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!(2));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_dead_workers_jobs_are_shared_out_and_each_ends_once() {
    on_postgres(|db| async move {
        let (send, mut receive) = mpsc::unbounded_channel();
        let first = Worker::start(&db.store, options(), [hanging(send)]).await;
        for n in 0..40 {
            first.enqueue(job("work", &format!("v{n}"))).await;
        }
        for _ in 0..16 {
            receive.recv().await.unwrap();
        }
        first.die().await;
        let other = db.second_store().await;
        let (a, b) = (Worker::start(&db.store, options(), [working()]).await, Worker::start(&other, options(), [working()]).await);
        until("all to end", || async {
            let filter = JobFilter { state: Some("done".into()), ..JobFilter::default() };
            (a.jobs.list(&filter, None, 100).await.unwrap().len() == 40).then_some(())
        })
        .await;
        let rows = a.jobs.list(&JobFilter::default(), None, 100).await.unwrap();
        assert!(rows.iter().all(|r| r.generation <= 2 && r.outcome.as_deref() == Some("ok")), "{rows:?}");
        drop(b);
        other.close().await;
    })
    .await;
}

/// Whatever the process's own clock says: only durations are measured here, every date is the database's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dates_in_the_rows_are_the_databases() {
    on_postgres(|db| async move {
        let w = Worker::start(&db.store, options(), [working()]).await;
        let before = db.store.database_now().await.unwrap();
        let id = w.enqueue(job("work", "v1")).await;
        w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap();
        let after = db.store.database_now().await.unwrap();
        let row = w.row(&id).await;
        for at in [row.created_at, row.run_at, row.ended_at.unwrap()] {
            assert!((before..=after).contains(&at));
        }
        assert_eq!(row.expires_at - row.created_at, i64::try_from((PATIENCE * 4).as_micros()).unwrap());
    })
    .await;
}
