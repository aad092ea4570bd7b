//! Jobs of one resource run one at a time, in the order of their insertion, and the next starts at once.

use std::time::Duration;

use serde_json::json;
use stowage::jobs::{NewJob, Outcome};
use support::both_databases;

use crate::harness::{Worker, job, never_polling, options, settle, task};

/// Writes down begin and end of each run.
fn noting() -> crate::harness::Scripted {
    task("note", |cx| async move {
        let name = cx.job.payload["name"].as_str().unwrap().to_owned();
        cx.app.note(format!("begin {name}"));
        tokio::task::yield_now().await;
        cx.app.note(format!("end {name}"));
        settle(cx, json!(name)).await
    })
}

fn named(resource: &str, name: String) -> NewJob {
    NewJob { payload: json!({ "name": name }), ..job("note", resource) }
}

both_databases! {
    async fn a_job_runs_right_after_its_transaction_commits_without_any_poll(db) {
        let w = Worker::start(&db.store, never_polling(), [noting()]).await;
        assert_eq!(w.answer(named("v1", "a".into())).await, json!("a"));
    }

    async fn a_job_does_not_run_before_its_transaction_commits_nor_after_a_rollback(db) {
        let w = Worker::start(&db.store, options(), [noting()]).await;
        let mut tx = db.store.begin().await.unwrap();
        tx.enqueue(&w.jobs, named("v1", "undone".into())).await.unwrap();
        tx.rollback().await.unwrap();
        // a later job of the same resource runs: nothing of the first is left, neither row nor room
        assert_eq!(w.answer(named("v1", "done".into())).await, json!("done"));
        assert_eq!(w.bench.notes(), ["begin done", "end done"]);
    }

    async fn the_jobs_of_a_resource_run_in_order_and_each_starts_when_the_one_before_ended(db) {
        let w = Worker::start(&db.store, never_polling(), [noting()]).await;
        let mut tx = db.store.begin().await.unwrap();
        let mut last = String::new();
        for n in 0..6 {
            last = tx.enqueue(&w.jobs, named("v1", n.to_string())).await.unwrap();
        }
        tx.commit().await.unwrap();
        w.jobs.wait(&last, crate::harness::PATIENCE).await.unwrap().unwrap();
        let expected: Vec<_> = (0..6).flat_map(|n| [format!("begin {n}"), format!("end {n}")]).collect();
        assert_eq!(w.bench.notes(), expected);
    }

    async fn order_holds_when_many_insert_at_once(db) {
        let w = Worker::start(&db.store, options(), [noting()]).await;
        let tasks: Vec<_> = (0..48).map(|n| {
            let jobs = w.jobs.clone();
            tokio::spawn(async move {
                let resource = format!("v{}", n % 4);
                let id = crate::harness::enqueue(&jobs, named(&resource, format!("{resource}-{n}"))).await;
                jobs.wait(&id, crate::harness::PATIENCE).await.unwrap().unwrap();
            })
        }).collect();
        for t in tasks {
            t.await.unwrap();
        }
        // the rows tell the order of insertion
        let mut rows = w.jobs.list(&Default::default(), None, 100).await.unwrap();
        rows.sort_by_key(|r| r.seq);
        assert_eq!(rows.len(), 48);
        let notes = w.bench.notes();
        for resource in ["v0", "v1", "v2", "v3"] {
            let mine: Vec<_> = notes.iter().filter(|n| n.contains(&format!(" {resource}-"))).collect();
            assert_eq!(mine.len(), 24);
            for pair in mine.chunks(2) {
                assert_eq!(pair[0].replace("begin", "end"), **pair[1], "two runs of {resource} overlap: {mine:?}");
            }
        }
    }

    async fn a_job_that_waits_for_its_retry_keeps_the_later_ones_of_its_resource_waiting(db) {
        let tasks = [
            noting(),
            task("twice", |cx| async move {
                if cx.job.attempts == 1 {
                    return Err(stowage::jobs::TaskError::Other("not yet".into()));
                }
                cx.app.note("first ended");
                settle(cx, json!(null)).await
            }),
        ];
        let w = Worker::start(&db.store, options(), tasks).await;
        w.enqueue(job("twice", "v1")).await;
        w.answer(named("v1", "second".into())).await;
        assert_eq!(w.bench.notes(), ["first ended", "begin second", "end second"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn order_holds_across_two_processes() {
    support::db::on_postgres(|db| async move {
        let a = Worker::start(&db.store, options(), [noting()]).await;
        let second = db.second_store().await;
        let b = Worker::start(&second, options(), [noting()]).await;
        let mut ids = Vec::new();
        for n in 0..20 {
            let w = if n % 2 == 0 { &a } else { &b };
            ids.push(w.enqueue(named("v1", n.to_string())).await);
        }
        for id in &ids {
            a.jobs.wait(id, crate::harness::PATIENCE).await.unwrap().unwrap();
        }
        let mut rows = a.jobs.list(&Default::default(), None, 100).await.unwrap();
        rows.sort_by_key(|r| r.seq);
        let ends: Vec<_> = rows.iter().map(|r| r.ended_at.unwrap()).collect();
        assert!(ends.is_sorted(), "ended in the order of insertion: {ends:?}");
        assert_eq!(rows.iter().map(|r| &r.id).collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
        second.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_process_leaves_to_the_others_is_run_by_whoever_looks_first() {
    support::db::on_postgres(|db| async move {
        let lacking = task("picky", |cx| async move {
            cx.app.note("left");
            Ok(Outcome::Elsewhere { after: Duration::from_millis(200), payload: json!({ "left": true }), reason: "another has it".into() })
        });
        let having = task("picky", |cx| async move {
            let payload = cx.job.payload.clone();
            settle(cx, payload).await
        });
        let a = Worker::start(&db.store, never_polling(), [lacking]).await;
        let second = db.second_store().await;
        let b = Worker::start(&second, options(), [having]).await;
        let id = a.enqueue(job("picky", "v1")).await;
        // asked of the one that polls
        assert_eq!(b.jobs.wait(&id, crate::harness::PATIENCE).await.unwrap().unwrap(), json!({ "left": true }));
        assert_eq!(a.bench.notes(), ["left"], "it did not look for it again when it was due");
        drop(b);
        second.close().await;
    })
    .await;
}
