//! Runs that fail, panic, say "later", forget to settle, hang, or are too old.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::jobs::{NewJob, Outcome, TaskError};
use support::{both_databases, wait::until};

use crate::harness::{PATIENCE, Worker, job, never_polling, options, settle, task};

both_databases! {
    async fn a_failed_run_is_repeated_with_a_new_generation_until_it_succeeds(db) {
        let flaky = task("flaky", |cx| async move {
            cx.app.note(format!("attempt {} generation {} failures {}", cx.job.attempts, cx.job.generation, cx.job.failures));
            if cx.job.attempts < 3 {
                return Err(TaskError::Other("the array is restarting".into()));
            }
            settle(cx, json!("done")).await
        });
        let w = Worker::start(&db.store, never_polling(), [flaky]).await;
        assert_eq!(w.answer(job("flaky", "v1")).await, json!("done"));
        assert_eq!(w.bench.notes(), ["attempt 1 generation 1 failures 0", "attempt 2 generation 2 failures 1", "attempt 3 generation 3 failures 2"]);
    }

    async fn while_it_waits_the_reason_is_to_be_read(db) {
        let broken = task("broken", |_| async { Err(TaskError::Other("the array is restarting".into())) });
        let slow = stowage::jobs::JobsOptions { backoff: Duration::from_secs(60), ..options() };
        let w = Worker::start(&db.store, slow, [broken]).await;
        let id = w.enqueue(job("broken", "v1")).await;
        let row = until("the job to wait", || async { Some(w.row(&id).await).filter(|r| r.state == "ready") }).await;
        assert_eq!((row.reason.as_str(), row.failures, row.worker), ("the array is restarting", 1, None));
        let wait = row.run_at - db.store.database_now().await.unwrap();
        assert!(wait > 10_000_000 && wait <= 60_000_000, "half to the whole back-off: {wait}");
    }

    async fn a_panic_is_a_failed_run_and_the_worker_goes_on(db) {
        let tasks = [
            task("panics", |cx| async move {
                assert!(cx.job.attempts > 1, "on purpose");
                settle(cx, json!("survived")).await
            }),
            task("quick", |cx| settle(cx, json!("other"))),
        ];
        let w = Worker::start(&db.store, options(), tasks).await;
        let id = w.enqueue(job("panics", "v1")).await;
        assert_eq!(w.answer(job("quick", "v2")).await, json!("other"));
        assert_eq!(w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!("survived"));
    }

    async fn a_task_that_says_later_goes_on_with_the_payload_it_left(db) {
        let pending = task("pending", |cx| async move {
            let token = cx.job.payload.get("token").and_then(Value::as_i64).unwrap_or(0);
            if token < 4 {
                return Ok(Outcome::Again { after: Duration::from_millis(5), payload: json!({"token": token + 1}), reason: "the array is copying".into() });
            }
            let failures = cx.job.failures;
            settle(cx, json!([token, failures])).await
        });
        let w = Worker::start(&db.store, never_polling(), [pending]).await;
        assert_eq!(w.answer(job("pending", "v1")).await, json!([4, 0]));
    }

    async fn a_task_that_ends_without_settling_is_repeated(db) {
        let forgetful = task("forgetful", |cx| async move {
            if cx.job.attempts == 1 {
                return Ok(Outcome::Settled);
            }
            settle(cx, json!("settled")).await
        });
        let w = Worker::start(&db.store, options(), [forgetful]).await;
        assert_eq!(w.answer(job("forgetful", "v1")).await, json!("settled"));
    }

    async fn a_task_that_settles_and_then_errs_has_ended(db) {
        let odd = task("odd", |cx| async move {
            cx.app.note("run");
            settle(cx, json!("settled")).await?;
            Err(TaskError::Other("too late".into()))
        });
        let w = Worker::start(&db.store, options(), [odd]).await;
        let id = w.enqueue(job("odd", "v1")).await;
        assert_eq!(w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!("settled"));
        // a second job of the resource runs, so the first is over; and it ran once
        w.answer(job("odd", "v1")).await;
        assert_eq!(w.bench.notes(), ["run", "run"]);
    }

    async fn a_job_of_an_unknown_kind_waits_for_a_process_that_knows_it(db) {
        let w = Worker::start(&db.store, options(), []).await;
        let id = w.enqueue(job("newer", "v1")).await;
        until("the job to be put back", || async { w.row(&id).await.reason.contains("no task for newer").then_some(()) }).await;
        w.jobs.shutdown(Duration::ZERO).await.unwrap();
        let newer = Worker::start(&db.store, options(), [task("newer", |cx| settle(cx, json!("known")))]).await;
        assert_eq!(newer.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!("known"));
    }

    async fn a_job_past_its_maximum_age_is_ended_by_expire(db) {
        let hopeless = task("hopeless", |cx| async move {
            cx.app.note("run");
            Err(TaskError::Other("no".into()))
        });
        let w = Worker::start(&db.store, options(), [hopeless]).await;
        let answer = w.answer(NewJob { max_age: Duration::from_millis(200), ..job("hopeless", "v1") }).await;
        assert_eq!(answer, json!("expired"));
        assert!(!w.bench.notes().is_empty(), "it was tried before");
    }

    async fn a_run_that_hangs_is_dropped_at_the_maximum_age(db) {
        let hanging = task("hanging", |cx| async move {
            let _inside = cx.app.enter();
            std::future::pending().await
        });
        let w = Worker::start(&db.store, never_polling(), [hanging]).await;
        let answer = w.answer(NewJob { max_age: Duration::from_millis(200), ..job("hanging", "v1") }).await;
        assert_eq!((answer, w.bench.running()), (json!("expired"), 0));
    }

    async fn expire_itself_is_repeated_until_it_settles(db) {
        let stubborn = task("stubborn", |_| async { Err(TaskError::Other("no".into())) }).on_expire(|cx| async move {
            cx.app.note("expire");
            if cx.app.notes().len() < 3 {
                return Err(TaskError::Other("the database is away".into()));
            }
            settle(cx, json!("at last")).await
        });
        let w = Worker::start(&db.store, options(), [stubborn]).await;
        assert_eq!(w.answer(NewJob { max_age: Duration::from_millis(50), ..job("stubborn", "v1") }).await, json!("at last"));
        assert_eq!(w.bench.notes().len(), 3);
    }

    async fn a_step_is_kept_though_the_run_fails_afterwards(db) {
        let stepping = task("stepping", |cx| async move {
            if cx.app.store.setting("step").await?.is_none() {
                let mut tx = cx.app.store.begin().await?;
                tx.set_setting("step", "provider id 7").await?;
                cx.commit_step(tx).await?;
                return Err(TaskError::Other("lost the answer".into()));
            }
            settle(cx, json!("second run found it")).await
        });
        let w = Worker::start(&db.store, options(), [stepping]).await;
        assert_eq!(w.answer(job("stepping", "v1")).await, json!("second run found it"));
    }

    async fn a_task_may_put_in_a_follow_up_with_its_own_end(db) {
        let tasks = [
            task("first", |cx| async move {
                let mut tx = cx.app.store.begin().await?;
                let follow = tx.enqueue(cx.queue(), job("second", "v1")).await?;
                cx.settle(tx, Ok(json!(follow))).await?;
                Ok(Outcome::Settled)
            }),
            task("second", |cx| settle(cx, json!("cleaned up"))),
        ];
        let w = Worker::start(&db.store, never_polling(), tasks).await;
        let follow = w.answer(job("first", "v1")).await;
        assert_eq!(w.jobs.wait(follow.as_str().unwrap(), PATIENCE).await.unwrap().unwrap(), json!("cleaned up"));
    }
}
