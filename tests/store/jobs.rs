//! The queue's rows, one statement at a time. How workers use them is the suite `jobs`.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{
    error::Kind,
    jobs::{JobFault, NewJob},
    store::{
        Store, StoreError,
        sql::jobs::{Claimed, JobEnd, JobFilter, Release},
    },
};
use support::{both_databases, db::Db};

const LONG: Duration = Duration::from_secs(60);

fn job(key: &str, backend: &str) -> NewJob {
    NewJob {
        kind: "volume.create",
        resource_kind: "volume",
        order_key: key.into(),
        resource_id: key.into(),
        backend: (!backend.is_empty()).then(|| backend.into()),
        payload: json!({"size": 1, "name": "naïve ☂"}),
        max_age: LONG,
        request_id: "req-1".into(),
        project_id: "p1".into(),
        user_id: "u1".into(),
    }
}

async fn worker(store: &Store, id: &str, lease: Duration) {
    let mut tx = store.begin().await.unwrap();
    tx.add_worker(id, "box:1", lease).await.unwrap();
    tx.commit().await.unwrap();
}

/// Ends a worker's lease.
async fn lapse(store: &Store, id: &str) {
    let mut tx = store.begin().await.unwrap();
    assert!(tx.renew_worker(id, Duration::ZERO).await.unwrap());
    tx.commit().await.unwrap();
}

async fn insert(store: &Store, id: &str, job: &NewJob, worker: Option<&str>) -> Option<Claimed> {
    let mut tx = store.begin().await.unwrap();
    let claimed = tx.insert_job(id, job, worker).await.unwrap();
    tx.commit().await.unwrap();
    claimed
}

async fn claim(store: &Store, backend: &str, worker: &str, limit: i64) -> Vec<String> {
    let mut tx = store.begin().await.unwrap();
    let claimed = tx.claim_lane(backend, worker, limit).await.unwrap();
    tx.commit().await.unwrap();
    claimed.into_iter().map(|c| c.job.id).collect()
}

async fn end(store: &Store, id: &str, worker: &str, generation: i64) -> Option<bool> {
    let mut tx = store.begin().await.unwrap();
    let ended = tx.end_job(id, worker, generation, &Ok(Value::Null)).await.unwrap();
    tx.commit().await.unwrap();
    ended
}

async fn release(store: &Store, id: &str, worker: &str, generation: i64, release: Release) -> bool {
    let mut tx = store.begin().await.unwrap();
    let ours = tx.release_job(id, worker, generation, &release).await.unwrap();
    tx.commit().await.unwrap();
    ours
}

/// A database with a living worker `w`.
async fn with_worker(db: Db) -> Db {
    worker(&db.store, "w", LONG).await;
    db
}

both_databases! {
    async fn the_inserting_transaction_claims_for_its_own_process(db) {
        let db = with_worker(db).await;
        let claimed = insert(&db.store, "j1", &job("v1", "h@a"), Some("w")).await.expect("claimed");
        let j = claimed.job;
        assert_eq!((j.id.as_str(), j.generation, j.attempts, j.failures, j.backend.as_deref()), ("j1", 1, 1, 0, Some("h@a")));
        assert_eq!(j.payload, json!({"size": 1, "name": "naïve ☂"}));
        assert_eq!(j.expires_at - j.created_at, 60_000_000);
        assert!(claimed.left <= LONG && claimed.left > LONG / 2);
        assert!(claim(&db.store, "h@a", "w", 9).await.is_empty(), "it is not claimed twice");
    }

    async fn without_a_worker_it_is_queued_and_a_claim_finds_it_as_it_was_inserted(db) {
        let db = with_worker(db).await;
        assert!(insert(&db.store, "j1", &job("v1", "h@a"), None).await.is_none());
        let mut tx = db.store.begin().await.unwrap();
        let [claimed] = &tx.claim_lane("h@a", "w", 9).await.unwrap()[..] else { panic!("one job") };
        tx.commit().await.unwrap();
        let j = &claimed.job;
        assert_eq!((j.id.as_str(), j.kind.as_str(), j.resource_kind.as_str(), j.resource_id.as_str(), j.order_key.as_str()), ("j1", "volume.create", "volume", "v1", "v1"));
        assert_eq!((j.request_id.as_str(), j.project_id.as_str(), j.user_id.as_str(), j.generation, j.attempts), ("req-1", "p1", "u1", 1, 1));
        assert_eq!(j.payload, json!({"size": 1, "name": "naïve ☂"}));
        assert!(claimed.left > LONG / 2);
    }

    async fn a_job_behind_an_older_unfinished_one_of_its_key_is_neither_claimed_at_insertion_nor_later(db) {
        let db = with_worker(db).await;
        insert(&db.store, "j1", &job("v1", "h@a"), Some("w")).await.expect("claimed");
        assert!(insert(&db.store, "j2", &job("v1", "h@a"), Some("w")).await.is_none());
        assert!(claim(&db.store, "h@a", "w", 9).await.is_empty());
        assert_eq!(db.store.next_in_order("v1").await.unwrap(), None);
        // put back for later: still in front
        assert!(release(&db.store, "j1", "w", 1, Release { after: LONG / 2, ..Release::default() }).await);
        assert!(claim(&db.store, "h@a", "w", 9).await.is_empty());
        assert!(!db.store.lane_is_due("h@a").await.unwrap());
    }

    async fn the_next_of_a_key_is_claimable_once_its_predecessor_ended(db) {
        let db = with_worker(db).await;
        insert(&db.store, "j1", &job("v1", "h@a"), Some("w")).await.unwrap();
        insert(&db.store, "j2", &job("v1", "h@b"), None).await;
        insert(&db.store, "j3", &job("v1", "h@a"), None).await;
        assert_eq!(end(&db.store, "j1", "w", 1).await, Some(false));
        assert_eq!(db.store.next_in_order("v1").await.unwrap().as_deref(), Some("h@b"));
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.claim_next_in_order("v1", "w").await.unwrap().unwrap().job.id, "j2");
        assert!(tx.claim_next_in_order("v1", "w").await.unwrap().is_none());
        tx.commit().await.unwrap();
    }

    async fn a_claim_takes_the_oldest_due_jobs_of_one_back_end_up_to_its_limit(db) {
        let db = with_worker(db).await;
        for n in 0..4 {
            insert(&db.store, &format!("a{n}"), &job(&format!("v{n}"), "h@a"), None).await;
        }
        insert(&db.store, "b0", &job("v9", "h@b"), None).await;
        insert(&db.store, "none", &job("v10", ""), None).await;
        assert_eq!(db.store.ready_lanes().await.unwrap(), ["", "h@a", "h@b"]);
        let mut first = claim(&db.store, "h@a", "w", 3).await;
        first.sort();
        assert_eq!(first, ["a0", "a1", "a2"]);
        assert_eq!(claim(&db.store, "h@a", "w", 3).await, ["a3"]);
        assert_eq!(claim(&db.store, "", "w", 3).await, ["none"]);
        assert_eq!(db.store.ready_lanes().await.unwrap(), ["h@b"]);
    }

    async fn those_who_hold_the_same_keys_in_other_orders_wait_for_each_other_and_never_both(db) {
        let keys: Vec<String> = (0..100).map(|n| format!("v{n}")).collect();
        let backwards: Vec<String> = keys.iter().rev().cloned().collect();
        let hold = |keys: Vec<String>, holder: &'static str| {
            let store = db.store.clone();
            tokio::spawn(async move {
                let mut tx = store.begin().await?;
                let held = tx.hold_order_keys(&keys, holder).await?.len();
                tx.rollback().await?;
                Ok::<_, StoreError>(held)
            })
        };
        for _ in 0..20 {
            let both = [hold(keys.clone(), "one"), hold(backwards.clone(), "other")];
            for held in both {
                assert_eq!(held.await.unwrap().unwrap(), 100);
            }
        }
    }

    async fn a_rolled_back_insertion_leaves_no_job(db) {
        let db = with_worker(db).await;
        let mut tx = db.store.begin().await.unwrap();
        tx.insert_job("j1", &job("v1", "h@a"), Some("w")).await.unwrap();
        tx.rollback().await.unwrap();
        assert!(matches!(db.store.job_end("j1").await.unwrap(), JobEnd::Gone));
    }

    async fn the_end_is_kept_for_whoever_waits(db) {
        let db = with_worker(db).await;
        for (id, result) in [("ok", Ok(json!({"a": [1, 2]}))), ("bad", Err(JobFault { kind: Kind::Conflict, message: "in use".into() }))] {
            insert(&db.store, id, &job(id, "h@a"), Some("w")).await.unwrap();
            assert!(matches!(db.store.job_end(id).await.unwrap(), JobEnd::Unfinished { worker: Some(w) } if w == "w"));
            let mut tx = db.store.begin().await.unwrap();
            assert_eq!(tx.end_job(id, "w", 1, &result).await.unwrap(), Some(false));
            tx.commit().await.unwrap();
        }
        assert!(matches!(db.store.job_end("ok").await.unwrap(), JobEnd::Ended(Ok(v)) if v == json!({"a": [1, 2]})));
        assert!(matches!(db.store.job_end("bad").await.unwrap(), JobEnd::Ended(Err(f)) if f.kind == Kind::Conflict && f.message == "in use"));
    }

    async fn whoever_is_not_the_owner_ends_releases_and_holds_nothing(db) {
        let db = with_worker(db).await;
        worker(&db.store, "other", LONG).await;
        insert(&db.store, "j1", &job("v1", "h@a"), Some("w")).await.unwrap();
        for (who, generation) in [("other", 1), ("w", 0), ("w", 2)] {
            assert_eq!(end(&db.store, "j1", who, generation).await, None, "{who} {generation}");
            assert!(!release(&db.store, "j1", who, generation, Release::default()).await, "{who} {generation}");
            let mut tx = db.store.begin().await.unwrap();
            assert!(!tx.hold_job("j1", who, generation).await.unwrap(), "{who} {generation}");
        }
        assert!(matches!(db.store.job_end("j1").await.unwrap(), JobEnd::Unfinished { worker: Some(w) } if w == "w"));
    }

    async fn an_owner_whose_lease_has_lapsed_writes_nothing_though_nobody_took_over_yet(db) {
        worker(&db.store, "late", LONG).await;
        insert(&db.store, "j1", &job("v1", "h@a"), Some("late")).await.unwrap();
        lapse(&db.store, "late").await;
        assert_eq!(end(&db.store, "j1", "late", 1).await, None);
        assert!(!release(&db.store, "j1", "late", 1, Release::default()).await);
        let mut tx = db.store.begin().await.unwrap();
        assert!(!tx.hold_job("j1", "late", 1).await.unwrap());
    }

    async fn a_worker_without_a_living_lease_claims_nothing(db) {
        worker(&db.store, "late", LONG).await;
        lapse(&db.store, "late").await;
        for who in ["late", "never-registered"] {
            assert!(insert(&db.store, who, &job(who, "h@a"), Some(who)).await.is_none());
            assert!(claim(&db.store, "h@a", who, 9).await.is_empty());
            let mut tx = db.store.begin().await.unwrap();
            assert!(tx.claim_next_in_order(who, who).await.unwrap().is_none());
        }
        let db = with_worker(db).await;
        assert_eq!(claim(&db.store, "h@a", "w", 9).await.len(), 2, "the jobs wait for a living one");
    }

    async fn a_job_ends_once(db) {
        let db = with_worker(db).await;
        insert(&db.store, "j1", &job("v1", "h@a"), Some("w")).await.unwrap();
        assert_eq!(end(&db.store, "j1", "w", 1).await, Some(false));
        assert_eq!(end(&db.store, "j1", "w", 1).await, None);
    }

    async fn the_end_says_whether_another_process_waits(db) {
        let db = with_worker(db).await;
        insert(&db.store, "j1", &job("v1", "h@a"), Some("w")).await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.await_job("j1").await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(end(&db.store, "j1", "w", 1).await, Some(true));
        let mut tx = db.store.begin().await.unwrap();
        assert!(!tx.await_job("j1").await.unwrap(), "too late to wait");
    }

    async fn a_release_keeps_the_payload_or_replaces_it_and_counts_failures_in_a_row(db) {
        let db = with_worker(db).await;
        insert(&db.store, "j1", &job("v1", "h@a"), Some("w")).await.unwrap();
        let failed = || Release { failed: true, reason: "broken".into(), ..Release::default() };
        let again = || Release { payload: Some(json!({"token": 7})), ..Release::default() };
        let mut seen = Vec::new();
        for (n, r) in [failed(), failed(), again(), failed()].into_iter().enumerate() {
            assert!(release(&db.store, "j1", "w", n as i64 + 1, r).await);
            let mut tx = db.store.begin().await.unwrap();
            let claimed = tx.claim_lane("h@a", "w", 1).await.unwrap();
            tx.commit().await.unwrap();
            let j = &claimed[0].job;
            seen.push((j.generation, j.attempts, j.failures, j.payload.get("token").and_then(Value::as_i64)));
        }
        assert_eq!(seen, [(2, 2, 1, None), (3, 3, 2, None), (4, 4, 0, Some(7)), (5, 5, 1, Some(7))]);
    }

    async fn a_wait_never_passes_the_maximum_age(db) {
        let db = with_worker(db).await;
        insert(&db.store, "j1", &NewJob { max_age: Duration::from_millis(300), ..job("v1", "h@a") }, Some("w")).await.unwrap();
        assert!(release(&db.store, "j1", "w", 1, Release { after: LONG, ..Release::default() }).await);
        let due = db.store.next_due_in().await.unwrap();
        assert!(due.is_none_or(|d| d <= Duration::from_millis(300)), "{due:?}");
        support::wait::until("the job to be due at its maximum age", || async { db.store.lane_is_due("h@a").await.unwrap().then_some(()) }).await;
        let mut tx = db.store.begin().await.unwrap();
        let claimed = tx.claim_lane("h@a", "w", 1).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(claimed[0].left, Duration::ZERO);
        // past it, the wait is as asked: expire itself is repeated with back-off
        assert!(release(&db.store, "j1", "w", 2, Release { after: LONG, ..Release::default() }).await);
        assert!(db.store.next_due_in().await.unwrap().unwrap() > LONG / 2);
    }

    async fn the_jobs_of_dead_workers_and_no_others_are_taken_over(db) {
        let db = with_worker(db).await;
        worker(&db.store, "dead", LONG).await;
        worker(&db.store, "gone", LONG).await;
        insert(&db.store, "alive", &job("v1", "h@a"), Some("w")).await.unwrap();
        insert(&db.store, "orphan", &job("v2", "h@a"), Some("dead")).await.unwrap();
        insert(&db.store, "unknown", &job("v3", "h@a"), Some("gone")).await.unwrap();
        lapse(&db.store, "dead").await;
        let mut tx = db.store.begin().await.unwrap();
        tx.remove_worker("gone").await.unwrap();
        tx.commit().await.unwrap();
        assert!(db.store.has_dead_workers().await.unwrap());
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.take_over_jobs().await.unwrap(), 2);
        tx.remove_dead_workers().await.unwrap();
        tx.commit().await.unwrap();
        assert!(!db.store.has_dead_workers().await.unwrap());
        let mut tx = db.store.begin().await.unwrap();
        let mut found: Vec<_> = tx.claim_lane("h@a", "w", 9).await.unwrap().into_iter().map(|c| (c.job.id, c.job.generation)).collect();
        tx.commit().await.unwrap();
        found.sort();
        assert_eq!(found, [("orphan".into(), 2), ("unknown".into(), 2)]);
    }

    async fn a_worker_that_leaves_hands_its_jobs_back_due_at_once(db) {
        let db = with_worker(db).await;
        insert(&db.store, "j1", &job("v1", "h@a"), Some("w")).await.unwrap();
        assert_eq!(db.store.jobs_of_worker("w").await.unwrap(), [("j1".into(), 1)]);
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.hand_back("w").await.unwrap(), 1);
        tx.remove_worker("w").await.unwrap();
        tx.commit().await.unwrap();
        worker(&db.store, "w2", LONG).await;
        assert_eq!(claim(&db.store, "h@a", "w2", 9).await, ["j1"]);
    }

    async fn a_repeated_request_finds_the_unfinished_job_to_join(db) {
        let db = with_worker(db).await;
        insert(&db.store, "j1", &job("v1", "h@a"), Some("w")).await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.running_job("v1", &["volume.create"]).await.unwrap().as_deref(), Some("j1"));
        assert_eq!(tx.running_job("v1", &["volume.delete"]).await.unwrap(), None);
        assert_eq!(tx.running_job("v2", &["volume.create"]).await.unwrap(), None);
        drop(tx);
        end(&db.store, "j1", "w", 1).await;
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.running_job("v1", &["volume.create"]).await.unwrap(), None);
    }

    async fn a_job_may_move_to_another_back_end(db) {
        let db = with_worker(db).await;
        insert(&db.store, "j1", &job("v1", "h@a"), None).await;
        let mut tx = db.store.begin().await.unwrap();
        tx.move_job("j1", "h@b").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(db.store.ready_lanes().await.unwrap(), ["h@b"]);
    }

    async fn only_ended_jobs_are_purged_by_age_and_in_batches(db) {
        let db = with_worker(db).await;
        for n in 0..3 {
            let id = format!("j{n}");
            insert(&db.store, &id, &job(&id, "h@a"), Some("w")).await.unwrap();
            end(&db.store, &id, "w", 1).await;
        }
        insert(&db.store, "open", &job("v9", "h@a"), Some("w")).await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.purge_jobs(LONG, 9).await.unwrap(), 0);
        assert_eq!(tx.purge_jobs(Duration::ZERO, 2).await.unwrap(), 2);
        assert_eq!(tx.purge_jobs(Duration::ZERO, 2).await.unwrap(), 1);
        tx.commit().await.unwrap();
        assert!(matches!(db.store.job_end("j0").await.unwrap(), JobEnd::Gone));
        assert!(matches!(db.store.job_end("open").await.unwrap(), JobEnd::Unfinished { .. }));
    }

    async fn the_list_is_newest_first_pages_by_marker_and_filters(db) {
        let db = with_worker(db).await;
        for n in 0..5 {
            insert(&db.store, &format!("j{n}"), &job(&format!("v{n}"), if n % 2 == 0 { "h@a" } else { "h@b" }), None).await;
        }
        insert(&db.store, "run", &job("v7", "h@a"), Some("w")).await.unwrap();
        let ids = |rows: Vec<stowage::store::sql::jobs::JobRow>| rows.into_iter().map(|r| r.id).collect::<Vec<_>>();
        let any = JobFilter::default();
        assert_eq!(ids(db.store.list_jobs(&any, None, 3).await.unwrap()), ["run", "j4", "j3"]);
        assert_eq!(ids(db.store.list_jobs(&any, Some("j3"), 9).await.unwrap()), ["j2", "j1", "j0"]);
        let filter = JobFilter { state: Some("ready".into()), backend: Some("h@a".into()), kind: Some("volume.create".into()), project_id: Some("p1".into()), ..JobFilter::default() };
        assert_eq!(ids(db.store.list_jobs(&filter, None, 9).await.unwrap()), ["j4", "j2", "j0"]);
        assert_eq!(ids(db.store.list_jobs(&JobFilter { resource_id: Some("v7".into()), ..JobFilter::default() }, None, 9).await.unwrap()), ["run"]);
        let depths: Vec<_> = db.store.lane_depths().await.unwrap().into_iter().map(|d| (d.backend, d.state, d.jobs)).collect();
        assert_eq!(depths, [("h@a".into(), "ready".into(), 3), ("h@a".into(), "running".into(), 1), ("h@b".into(), "ready".into(), 2)]);
    }

    async fn two_insertions_with_one_key_at_once_claim_one_job(db) {
        let db = with_worker(db).await;
        for round in 0..10 {
            let key = format!("v{round}");
            let tasks: Vec<_> = (0..6).map(|n| {
                let (store, key) = (db.store.clone(), key.clone());
                tokio::spawn(async move { insert(&store, &format!("{key}-{n}"), &job(&key, "h@a"), Some("w")).await.is_some() })
            }).collect();
            let claimed = futures::future::join_all(tasks).await.into_iter().filter(|r| *r.as_ref().unwrap()).count();
            assert_eq!(claimed, 1);
        }
    }

    async fn claims_at_once_never_share_a_job(db) {
        let db = with_worker(db).await;
        for n in 0..40 {
            insert(&db.store, &format!("j{n}"), &job(&format!("v{n}"), "h@a"), None).await;
        }
        let tasks: Vec<_> = (0..8).map(|_| {
            let store = db.store.clone();
            tokio::spawn(async move {
                let mut mine = Vec::new();
                loop {
                    let got = claim(&store, "h@a", "w", 3).await;
                    if got.is_empty() { return mine }
                    mine.extend(got);
                }
            })
        }).collect();
        let mut all: Vec<_> = futures::future::join_all(tasks).await.into_iter().flat_map(Result::unwrap).collect();
        all.extend(claim(&db.store, "h@a", "w", 99).await); // what a skipped lock left
        all.sort();
        let total = all.len();
        all.dedup();
        assert_eq!((total, all.len()), (40, 40));
    }
}
