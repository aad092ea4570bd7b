//! A turn on a host belongs to a running claim of a job, and ends with it however it ends.

use std::time::Duration;

use serde_json::json;
use stowage::{
    jobs::NewJob,
    store::{Store, sql::jobs::Release},
};
use support::both_databases;

const LONG: Duration = Duration::from_secs(60);

/// A job that worker `w` runs; its generation.
async fn running(store: &Store, id: &str) -> i64 {
    let job = NewJob {
        kind: "attachment.connect",
        resource_kind: "attachment",
        order_key: id.into(),
        resource_id: id.into(),
        backend: Some("stowage@a".into()),
        payload: json!({}),
        max_age: LONG,
        request_id: "req-1".into(),
        project_id: "p1".into(),
        user_id: "u1".into(),
    };
    let mut tx = store.begin().await.unwrap();
    let claimed = tx.insert_job(id, &job, Some("w")).await.unwrap().expect("claimed");
    tx.commit().await.unwrap();
    claimed.job.generation
}

async fn worker(store: &Store, id: &str) {
    let mut tx = store.begin().await.unwrap();
    tx.add_worker(id, "box:1", LONG).await.unwrap();
    tx.commit().await.unwrap();
}

async fn take(store: &Store, host: &str, job: &str, generation: i64) -> bool {
    let mut tx = store.begin().await.unwrap();
    let taken = tx.take_connect_turn("stowage@a", host, job, generation).await.unwrap();
    tx.commit().await.unwrap();
    taken
}

both_databases! {
    async fn one_running_job_has_it_and_may_take_it_again(db) {
        worker(&db.store, "w").await;
        let (one, two) = (running(&db.store, "one").await, running(&db.store, "two").await);
        assert!(take(&db.store, "h", "one", one).await);
        assert!(take(&db.store, "h", "one", one).await);
        assert!(!take(&db.store, "h", "two", two).await);
        assert!(take(&db.store, "i", "two", two).await, "another host");
    }

    async fn it_ends_when_its_job_ends_or_goes_back_to_the_queue(db) {
        worker(&db.store, "w").await;
        let (one, two, three) = (running(&db.store, "one").await, running(&db.store, "two").await, running(&db.store, "three").await);
        assert!(take(&db.store, "h", "one", one).await);
        let mut tx = db.store.begin().await.unwrap();
        tx.end_job("one", "w", one, &Ok(json!(null))).await.unwrap().expect("ended");
        tx.commit().await.unwrap();
        assert!(take(&db.store, "h", "two", two).await);
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.release_job("two", "w", two, &Release::default()).await.unwrap());
        tx.commit().await.unwrap();
        assert!(take(&db.store, "h", "three", three).await);
    }

    async fn a_dead_workers_turn_is_free_once_its_job_is_taken_over(db) {
        for id in ["w", "x"] {
            worker(&db.store, id).await;
        }
        let one = running(&db.store, "one").await;
        assert!(take(&db.store, "h", "one", one).await);
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.renew_worker("w", Duration::ZERO).await.unwrap());
        tx.take_over_jobs().await.unwrap();
        let again = tx.claim_lane("stowage@a", "x", 1).await.unwrap().remove(0).job.generation;
        tx.commit().await.unwrap();
        assert!(again > one);
        worker(&db.store, "w2").await;
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.take_connect_turn("stowage@a", "h", "two", 1).await.unwrap(), "the claim that took it runs no more");
        tx.rollback().await.unwrap();
        assert!(take(&db.store, "h", "one", again).await, "the next claim of the same job has it at once");
        assert!(!take(&db.store, "h", "two", 1).await);
    }

    async fn of_two_at_once_one_has_it(db) {
        worker(&db.store, "w").await;
        let mut tasks = Vec::new();
        for n in 0..8 {
            let id = format!("j{n}");
            let generation = running(&db.store, &id).await;
            let store = db.store.clone();
            tasks.push(tokio::spawn(async move { take(&store, "h", &id, generation).await }));
        }
        let mut taken = 0;
        for task in tasks {
            taken += usize::from(task.await.unwrap());
        }
        assert_eq!(taken, 1);
    }

    async fn rows_of_turns_that_ended_are_purged_and_others_stay(db) {
        worker(&db.store, "w").await;
        let one = running(&db.store, "one").await;
        assert!(take(&db.store, "ended", "gone", 1).await);
        assert!(take(&db.store, "lasts", "one", one).await);
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.purge_connect_turns(Duration::ZERO, 10).await.unwrap(), 1);
        tx.commit().await.unwrap();
        let two = running(&db.store, "two").await;
        assert!(!take(&db.store, "lasts", "two", two).await);
    }
}
