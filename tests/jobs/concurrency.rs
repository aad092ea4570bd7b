//! How many jobs of a back end run at once, and that one back end's trouble is its own.

use std::sync::atomic::Ordering;

use serde_json::json;
use stowage::jobs::{JobsOptions, NewJob, Outcome};
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

/// Comes to work with the back end its payload names; one that is called `hanging` answers when the test opens the gate.
fn placing() -> Scripted {
    task("placing", |cx| async move {
        let backend = cx.job.payload["to"].as_str().unwrap().to_owned();
        if let Some(later) = cx.change_lane(&backend, &cx.job.payload).await {
            return Ok(later);
        }
        if backend == "stowage@hanging" {
            let _inside = cx.app.enter();
            cx.app.pass_gate().await;
        }
        settle(cx, json!(null)).await
    })
}

fn to(backend: &str, resource: &str) -> NewJob {
    NewJob { backend: None, payload: json!({ "to": backend }), ..job("placing", resource) }
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

    async fn jobs_that_come_to_a_back_end_that_hangs_leave_the_lane_they_began_in(db) {
        let w = Worker::start(&db.store, JobsOptions { unplaced: 3, per_backend: 2, ..never_polling() }, [placing()]).await;
        let mut waiting = Vec::new();
        for n in 0..20 {
            waiting.push(w.enqueue(to("stowage@hanging", &format!("h{n}"))).await);
        }
        for n in 0..20 {
            w.answer(to("stowage@well", &format!("w{n}"))).await;
        }
        assert_eq!(w.bench.running(), 2, "the others still hang");
        w.bench.open(20);
        for id in waiting {
            w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap();
        }
        assert_eq!(w.bench.most_running.load(Ordering::SeqCst), 2);
    }

    async fn a_job_without_room_where_it_came_to_waits_there_and_has_not_failed(db) {
        let w = Worker::start(&db.store, JobsOptions { per_backend: 1, ..never_polling() }, [placing()]).await;
        w.enqueue(to("stowage@hanging", "v1")).await;
        until("the first to run", || async { (w.bench.running() == 1).then_some(()) }).await;
        let id = w.enqueue(to("stowage@hanging", "v2")).await;
        let row = until("the second to wait", || async { Some(w.row(&id).await).filter(|r| r.state == "ready") }).await;
        assert_eq!((row.backend.as_str(), row.failures), ("stowage@hanging", 0));
        assert!(row.reason.contains("waits for room"), "{}", row.reason);
        w.bench.open(2);
        w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap();
    }

    async fn a_job_that_gave_a_back_end_up_does_not_wait_for_room_there(db) {
        let gives_up = task("gives up", |cx| async move {
            if cx.job.attempts > 1 {
                return settle(cx, json!(null)).await;
            }
            assert!(cx.change_lane("stowage@hanging", &cx.job.payload).await.is_none());
            cx.leave_lane();
            let _inside = cx.app.enter();
            cx.app.pass_gate().await;
            Ok(Outcome::Again { after: std::time::Duration::ZERO, payload: json!({}), reason: "another will do".into() })
        });
        let w = Worker::start(&db.store, JobsOptions { per_backend: 1, ..never_polling() }, [placing(), gives_up]).await;
        let id = w.enqueue(NewJob { backend: None, ..job("gives up", "v1") }).await;
        until("it to be on the back end", || async { (w.bench.running() == 1).then_some(()) }).await;
        w.enqueue(to("stowage@hanging", "v2")).await;
        until("another to wait for its room", || async { w.jobs.list(&Default::default(), None, 10).await.unwrap().iter().any(|r| r.reason.contains("waits for room")).then_some(()) }).await;
        w.bench.open(1);
        w.jobs.wait(&id, PATIENCE).await.unwrap().unwrap();
        until("the other to be there", || async { (w.bench.running() == 1).then_some(()) }).await;
        w.bench.open(1);
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
        w.answer(NewJob { backend: None, ..job("quick", "v9") }).await;
    }
}
