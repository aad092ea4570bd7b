//! How many jobs of a back end run at once, and that one back end's trouble is its own.

use std::sync::atomic::Ordering;

use serde_json::json;
use stowage::jobs::JobsOptions;
use support::{both_databases, wait::until};

use crate::harness::{PATIENCE, Scripted, Worker, job, never_polling, on_backend, options, settle, task};

/// Holds its place until the test opens the gate.
fn held() -> Scripted {
    task("held", |cx| async move {
        let _inside = cx.app.enter();
        cx.app.pass_gate().await;
        settle(cx, json!(null)).await
    })
}

fn quick() -> Scripted {
    task("quick", |cx| settle(cx, json!(null)))
}

both_databases! {
    async fn no_more_jobs_of_a_back_end_run_at_once_than_its_budget_and_all_get_their_turn(db) {
        let w = Worker::start(&db.store, JobsOptions { per_backend: 3, ..never_polling() }, [held()]).await;
        let mut ids = Vec::new();
        for n in 0..12 {
            ids.push(w.enqueue(job("held", &format!("v{n}"))).await);
        }
        until("the budget to be used", || async { (w.bench.running() == 3).then_some(()) }).await;
        w.bench.open(12);
        for id in ids {
            w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap();
        }
        assert_eq!(w.bench.most_running.load(Ordering::SeqCst), 3);
    }

    async fn a_back_end_that_hangs_does_not_delay_another(db) {
        let w = Worker::start(&db.store, JobsOptions { per_backend: 4, ..options() }, [held(), quick()]).await;
        for n in 0..60 {
            w.enqueue(on_backend("stowage@hanging", job("held", &format!("h{n}")))).await;
        }
        until("the hanging back end to be full", || async { (w.bench.running() == 4).then_some(()) }).await;
        for n in 0..60 {
            w.answer(on_backend("stowage@well", job("quick", &format!("w{n}")))).await;
        }
        assert_eq!(w.bench.running(), 4, "the others still hang");
    }

    async fn jobs_that_nobody_claimed_at_insertion_are_served_back_end_by_back_end(db) {
        // put in by a process that does not work, so that all must come through the poller
        let w = {
            let idle = stowage::jobs::Jobs::new(db.store.clone(), JobsOptions { work: false, ..options() });
            for n in 0..100 {
                crate::harness::enqueue(&idle, on_backend("stowage@hanging", job("held", &format!("h{n}")))).await;
            }
            for n in 0..10 {
                crate::harness::enqueue(&idle, on_backend("stowage@well", job("quick", &format!("w{n}")))).await;
            }
            Worker::start(&db.store, options(), [held(), quick()]).await
        };
        let rows = w.jobs.list(&Default::default(), None, 1000).await.unwrap();
        for row in rows.iter().filter(|r| r.kind == "quick") {
            w.jobs.wait(&row.id, PATIENCE).await.unwrap().unwrap();
        }
        assert!(w.bench.running() <= 16);
    }

    async fn one_back_end_may_have_its_own_budget_and_change_it_while_jobs_wait(db) {
        let w = Worker::start(&db.store, never_polling(), [held()]).await;
        w.jobs.set_backend_concurrency("stowage@a", Some(1));
        for n in 0..5 {
            w.enqueue(job("held", &format!("v{n}"))).await;
        }
        until("one to run", || async { (w.bench.running() == 1).then_some(()) }).await;
        w.jobs.set_backend_concurrency("stowage@a", Some(4));
        until("four to run", || async { (w.bench.running() == 4).then_some(()) }).await;
        assert_eq!(w.bench.most_running.load(Ordering::SeqCst), 4);
    }

    async fn a_job_without_a_back_end_runs_though_every_back_end_is_full(db) {
        let w = Worker::start(&db.store, JobsOptions { per_backend: 1, ..options() }, [held(), quick()]).await;
        for backend in ["stowage@a", "stowage@b"] {
            w.enqueue(on_backend(backend, job("held", backend))).await;
            w.enqueue(on_backend(backend, job("held", &format!("{backend}-2")))).await;
        }
        until("both to be full", || async { (w.bench.running() == 2).then_some(()) }).await;
        w.answer(stowage::jobs::NewJob { backend: None, ..job("quick", "v9") }).await;
    }
}
