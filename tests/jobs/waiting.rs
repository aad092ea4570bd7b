//! Callers that wait for the end of a job, in this process and in another.

use std::time::Duration;

use serde_json::json;
use stowage::{
    error::Kind,
    jobs::{JobFault, Jobs, JobsOptions, Outcome, WaitExpired},
};
use support::{both_databases, db::on_postgres};

use crate::harness::{PATIENCE, Scripted, Worker, enqueue, job, never_polling, options, settle, task};

fn gated() -> Scripted {
    task("gated", |cx| async move {
        cx.app.pass_gate().await;
        settle(cx, json!("through")).await
    })
}

both_databases! {
    async fn a_wait_that_expires_leaves_the_job_running_and_a_later_wait_gets_the_answer(db) {
        let w = Worker::start(&db.store, never_polling(), [gated()]).await;
        let id = w.enqueue(job("gated", "v1")).await;
        assert_eq!(w.jobs.wait(&id, Duration::from_millis(50)).await.unwrap_err(), WaitExpired);
        w.bench.open(1);
        assert_eq!(w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!("through"));
        assert_eq!(w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!("through"), "the answer is kept");
    }

    async fn a_refusal_reaches_the_waiter_as_it_was_given(db) {
        let refusing = task("refusing", |cx| async move {
            let tx = cx.app.store.begin().await?;
            cx.settle(tx, Err(JobFault { kind: Kind::Conflict, message: "the volume is in use".into() })).await?;
            Ok(Outcome::Settled)
        });
        let w = Worker::start(&db.store, never_polling(), [refusing]).await;
        let id = w.enqueue(job("refusing", "v1")).await;
        let fault = w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap_err();
        assert_eq!((fault.kind, fault.message.as_str()), (Kind::Conflict, "the volume is in use"));
        assert_eq!(w.row(&id).await.outcome.as_deref(), Some("refused"));
    }

    async fn every_waiter_gets_the_answer(db) {
        let w = Worker::start(&db.store, never_polling(), [gated()]).await;
        let id = w.enqueue(job("gated", "v1")).await;
        let waiters: Vec<_> = (0..20).map(|_| {
            let (jobs, id) = (w.jobs.clone(), id.clone());
            tokio::spawn(async move { jobs.wait(&id, PATIENCE).await.unwrap().unwrap() })
        }).collect();
        w.bench.open(1);
        for answer in futures::future::join_all(waiters).await {
            assert_eq!(answer.unwrap(), json!("through"));
        }
    }

    async fn a_repeated_request_joins_the_running_job_and_gets_its_answer(db) {
        let w = Worker::start(&db.store, never_polling(), [gated()]).await;
        let first = w.enqueue(job("gated", "v1")).await;
        let mut tx = db.store.begin().await.unwrap();
        let joined = tx.running_job("v1", &["gated"]).await.unwrap().expect("a job to join");
        tx.rollback().await.unwrap();
        assert_eq!(joined, first);
        w.bench.open(1);
        let (a, b) = tokio::join!(w.jobs.wait(&first, PATIENCE), w.jobs.wait(&joined, PATIENCE));
        assert_eq!((a.unwrap().unwrap(), b.unwrap().unwrap()), (json!("through"), json!("through")));
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.running_job("v1", &["gated"]).await.unwrap(), None, "nothing left to join");
    }

    async fn waiting_for_a_purged_job_ends_with_not_found(db) {
        let w = Worker::start(&db.store, never_polling(), []).await;
        assert_eq!(w.jobs.wait("no-such-job", PATIENCE).await.unwrap().unwrap_err().kind, Kind::NotFound);
    }
}

/// A process that only serves the API: it never polls within the test, so only announcements can wake it.
async fn api_only(store: &stowage::store::Store) -> Worker {
    Worker::start(store, JobsOptions { work: false, ..never_polling() }, []).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiter_in_another_process_is_woken_by_the_end() {
    on_postgres(|db| async move {
        let worker = Worker::start(&db.store, options(), [gated()]).await;
        let other = db.second_store().await;
        let api = api_only(&other).await;
        let id = worker.enqueue(job("gated", "v1")).await;
        let waiting = {
            let (jobs, id) = (api.jobs.clone(), id.clone());
            tokio::spawn(async move { jobs.wait(&id, PATIENCE).await })
        };
        support::wait::until("the waiter to leave word", || async { is_awaited(&db, &id).await.then_some(()) }).await;
        worker.bench.open(1);
        assert_eq!(waiting.await.unwrap().unwrap().unwrap(), json!("through"));
        other.close().await;
    })
    .await;
}

async fn is_awaited(db: &support::db::Db, id: &str) -> bool {
    let mut c = sqlx::PgPool::connect(&db.options.url).await.unwrap().acquire().await.unwrap();
    let (awaited,): (bool,) = sqlx::query_as("SELECT awaited FROM jobs WHERE id = $1").bind(id).fetch_one(&mut *c).await.unwrap();
    awaited
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_put_in_by_a_process_that_does_not_work_is_heard_of_by_one_that_does() {
    on_postgres(|db| async move {
        let worker = Worker::start(&db.store, never_polling(), [gated()]).await;
        worker.bench.open(1);
        let other = db.second_store().await;
        let api = api_only(&other).await;
        // the worker listens from some moment after its start: repeat until one is heard
        let answer = support::wait::until("a job to be heard of", || async {
            let id = enqueue(&api.jobs, job("gated", "v1")).await;
            worker.bench.open(1);
            api.jobs.wait(&id, Duration::from_secs(2)).await.ok()
        })
        .await;
        assert_eq!(answer.unwrap(), json!("through"));
        other.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_announcements_polling_finds_the_end() {
    on_postgres(|db| async move {
        let worker = Worker::start(&db.store, options(), [gated()]).await;
        let other = db.second_store().await;
        let deaf = Jobs::new(other.clone(), options()); // never started: it hears nothing
        let id = worker.enqueue(job("gated", "v1")).await;
        let waiting = {
            let (jobs, id) = (deaf.clone(), id.clone());
            tokio::spawn(async move { jobs.wait(&id, PATIENCE).await })
        };
        worker.bench.open(1);
        assert_eq!(waiting.await.unwrap().unwrap().unwrap(), json!("through"));
        other.close().await;
    })
    .await;
}
