//! A worker that leaves in good order.

use std::time::Duration;

use serde_json::json;
use stowage::jobs::{Outcome, TaskError};
use support::{both_databases, db::on_postgres, wait::until};

use crate::harness::{PATIENCE, Scripted, Worker, job, never_polling, options, settle, task};

fn gated() -> Scripted {
    task("gated", |cx| async move {
        let _inside = cx.app.enter();
        cx.app.pass_gate().await;
        let generation = cx.job.generation;
        settle(cx, json!(generation)).await
    })
}

both_databases! {
    async fn running_jobs_may_end_within_the_grace(db) {
        let w = Worker::start(&db.store, options(), [gated()]).await;
        let id = w.enqueue(job("gated", "v1")).await;
        until("the job to run", || async { (w.bench.running() == 1).then_some(()) }).await;
        let (left, ()) = tokio::join!(w.jobs.shutdown(PATIENCE), async { w.bench.open(1) });
        left.unwrap();
        let row = w.row(&id).await;
        assert_eq!((row.state.as_str(), row.generation), ("done", 1));
        assert!(db.store.workers().await.unwrap().is_empty());
    }

    async fn what_has_not_ended_is_dropped_and_handed_back_at_once(db) {
        let w = Worker::start(&db.store, never_polling(), [gated()]).await;
        let id = w.enqueue(job("gated", "v1")).await;
        until("the job to run", || async { (w.bench.running() == 1).then_some(()) }).await;
        w.jobs.shutdown(Duration::ZERO).await.unwrap();
        assert_eq!(w.bench.running(), 0);
        let row = w.row(&id).await;
        assert_eq!((row.state.as_str(), row.worker, row.reason.as_str()), ("ready", None, "handed back at shutdown"));
        assert!(db.store.workers().await.unwrap().is_empty());
    }

    async fn shortly_before_it_is_dropped_a_run_is_told_that_it_is_not_wanted_here(db) {
        let listening = task("listening", |cx| async move {
            let _inside = cx.app.enter();
            cx.lease.unwanted().cancelled().await;
            Ok(Outcome::Again { after: Duration::ZERO, payload: json!("told"), reason: "ends early".to_owned() })
        });
        let w = Worker::start(&db.store, never_polling(), [listening]).await;
        let id = w.enqueue(job("listening", "v1")).await;
        until("the job to run", || async { (w.bench.running() == 1).then_some(()) }).await;
        w.jobs.shutdown(Duration::from_secs(2)).await.unwrap();
        let row = w.row(&id).await;
        assert_eq!((row.state.as_str(), row.worker, row.reason.as_str()), ("ready", None, "ends early"));
    }

    async fn after_leaving_jobs_are_still_accepted_for_others(db) {
        let w = Worker::start(&db.store, options(), [gated()]).await;
        w.jobs.shutdown(Duration::ZERO).await.unwrap();
        let id = w.enqueue(job("gated", "v1")).await;
        assert_eq!(w.row(&id).await.state, "ready");
    }

    async fn a_run_dropped_at_leaving_can_write_nothing_afterwards(db) {
        let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
        let hanging = task("hanging", move |cx| {
            let send = send.clone();
            async move {
                send.send(cx.clone()).unwrap();
                std::future::pending().await
            }
        });
        let w = Worker::start(&db.store, options(), [hanging]).await;
        w.enqueue(job("hanging", "v1")).await;
        let late = receive.recv().await.unwrap();
        w.jobs.shutdown(Duration::ZERO).await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        tx.set_setting("late", "written").await.unwrap();
        assert!(matches!(late.settle(tx, Ok(json!(null))).await, Err(TaskError::Fenced)));
        assert_eq!(db.store.setting("late").await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_process_takes_handed_back_jobs_without_waiting_for_lease_or_poll() {
    on_postgres(|db| async move {
        let leaving = Worker::start(&db.store, never_polling(), [gated()]).await;
        let id = leaving.enqueue(job("gated", "v1")).await;
        until("the job to run", || async { (leaving.bench.running() == 1).then_some(()) }).await;
        let other = db.second_store().await;
        let staying = Worker::start(&other, never_polling(), [gated()]).await;
        staying.bench.open(1);
        until("the other to listen", || async { listeners(&db.options.url).await.ge(&2).then_some(()) }).await;
        leaving.jobs.shutdown(Duration::ZERO).await.unwrap();
        assert_eq!(staying.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!(2));
        other.close().await;
    })
    .await;
}

/// Connections whose last statement was the LISTEN.
async fn listeners(url: &str) -> i64 {
    let mut c = sqlx::PgPool::connect(url).await.unwrap().acquire().await.unwrap();
    let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    let (n,): (i64,) = sqlx::query_as(sql).fetch_one(&mut *c).await.unwrap();
    n
}
