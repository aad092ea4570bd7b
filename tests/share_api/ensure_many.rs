//! Ensuring many shares: the back end's other work goes on meanwhile, and so does everybody else's.

use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::{Connection, PgConnection};
use stowage::{
    clock,
    config::Config,
    domain::share::ShareStatus,
    store::sql::{ensure::NewEnsureRun, ensure_shares::TAKEN_AT_ONCE},
};
use support::{both_databases, db::Db, many_shares, wait};

use crate::{
    ensure::{HOST, ended, patient, run},
    site::{Site, backend, create},
};

/// Enough that the others come between often. `make test-full`, and whoever says so in `STOWAGE_TEST_MANY_SHARES`, takes 50,000,
/// which last some minutes.
fn many() -> usize {
    match std::env::var("STOWAGE_TEST_MANY_SHARES") {
        Ok(number) => number.parse().unwrap(),
        Err(_) if std::env::var("STOWAGE_TEST_FULL").is_ok_and(|v| !v.is_empty()) => 50_000,
        Err(_) => 2_000,
    }
}

both_databases! {
    async fn b6_ensuring_many_shares_holds_up_no_other_work_of_the_back_end(db) {
        others_go_on(&db, many(), 50).await;
    }
}

async fn others_go_on(db: &Db, many: usize, batch: usize) {
    let options = json!({ "pools": ["p1:10000000"], "ensure_batch": batch });
    // the memory driver counts all its objects for each report, which tests want every second
    let site =
        Site::on(db, vec![backend("m", options)], |c| c.scheduler.report_interval = Config::default().scheduler.report_interval).await;
    let (member, operator) = (site.member().await, site.operator().await);
    let first = site.available().await;
    many_shares::copies(&site.app().config.get().database_url(), &first, 1, many).await;
    patient(&operator).await.expect(202);
    let (mut cycles, mut slowest) = (0, Duration::ZERO);
    let ending = wait::within(Duration::from_secs(1200), "the run to end", || async {
        let run = run(&site).await;
        (run["state"] != "running").then_some(run)
    });
    let others = async {
        // each within the patience of the tests, whatever the run does
        loop {
            let began = Instant::now();
            let id = create(&member, json!({})).await;
            member.share_until(&id, "available").await;
            member.get("/shares/detail?limit=50").await.expect(200);
            // its turn to be ensured may come
            wait::until("a delete to be accepted", || async {
                (member.delete(&format!("/shares/{id}")).await.status == 202).then_some(())
            })
            .await;
            member.until_gone(&format!("/shares/{id}")).await;
            slowest = slowest.max(began.elapsed());
            if run(&site).await["state"] == "running" {
                cycles += 1;
            }
        }
    };
    let last = tokio::select! {
        last = ending => last,
        _ = others => unreachable!(),
    };
    eprintln!("{many} shares, {} a second; meanwhile {cycles} shares came and went, the slowest within {slowest:?}", last["rate"]);
    assert_eq!(
        (&last["state"], &last["failed"], &last["left_out"], &last["broken"]),
        (&json!("done"), &json!(0), &json!(0), &json!(0)),
        "{last}"
    );
    assert!(last["unchanged"].as_u64() > Some(many as u64), "{last}");
    assert!(cycles >= 2, "the others waited for the run: {cycles}");
}

/// A run `r` that calls for `batch` shares at once.
fn new_run(batch: i64) -> NewEnsureRun {
    NewEnsureRun {
        id: "r".into(),
        backend: HOST.into(),
        cause: "request",
        request_id: String::new(),
        project_id: String::new(),
        user_id: String::new(),
        changes_status: true,
        incarnation: None,
        batch,
        started_at: clock::now(),
    }
}

both_databases! {
    async fn however_many_are_asked_for_in_one_call_a_transaction_locks_few_of_them(db) {
        let site = Site::on(&db, vec![backend("m", json!({ "pools": ["p1:10000000"] }))], |_| {}).await;
        let first = site.available().await;
        many_shares::copies(&site.app().config.get().database_url(), &first, 1, 249).await;
        let mut tx = site.app().store.begin().await.unwrap();
        tx.ensure_begin(&new_run(2000), 0).await.unwrap();
        let mut run = tx.ensure_run("r").await.unwrap().unwrap();
        let batch = run.batch;
        assert_eq!(tx.ensure_take_next(&mut run, batch, clock::now()).await.unwrap(), TAKEN_AT_ONCE);
        assert_eq!(tx.ensure_held("r").await.unwrap().len(), 100);
        if db.is_postgres() {
            let mut other = PgConnection::connect(&db.options.url).await.unwrap();
            let sql = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
            let (locks,): (i64,) = sqlx::query_as(sql).fetch_one(&mut other).await.unwrap();
            // and perhaps a job of the service
            assert!((TAKEN_AT_ONCE..TAKEN_AT_ONCE + 10).contains(&locks), "{locks}");
        }
        tx.rollback().await.unwrap();
        patient(&site.operator().await).await.expect(202);
        let run = ended(&site).await;
        assert_eq!((&run["state"], &run["total"], &run["unchanged"]), (&json!("done"), &json!(250), &json!(250)), "{run}");
    }
}

both_databases! {
    async fn a_share_that_is_gone_holds_up_nothing_and_lets_go_of_no_other(db) {
        let site = Site::on(&db, vec![backend("m", json!({}))], |_| {}).await;
        let (gone, other) = (site.available().await, site.available().await);
        let mut tx = site.app().store.begin().await.unwrap();
        tx.ensure_begin(&new_run(10), 0).await.unwrap();
        let mut run = tx.ensure_run("r").await.unwrap().unwrap();
        assert_eq!(tx.ensure_take_next(&mut run, 10, clock::now()).await.unwrap(), 2);
        tx.ensure_split("r", 0, &[other.as_str()]).await.unwrap();
        assert!(tx.share_remove(&gone, &[ShareStatus::Ensuring]).await.unwrap());
        tx.commit().await.unwrap();
        let store = &site.app().store;
        let (part, shares) = store.ensure_part("r").await.unwrap().unwrap();
        assert_eq!((part, shares.len()), (0, 0));
        let mut tx = store.begin().await.unwrap();
        tx.ensure_gone("r", part, clock::now()).await.unwrap();
        tx.commit().await.unwrap();
        let (part, shares) = store.ensure_part("r").await.unwrap().unwrap();
        assert_eq!((part, shares.iter().map(|s| s.id.as_str()).collect::<Vec<_>>()), (1, vec![other.as_str()]));
        assert_eq!(store.ensure_run("r").await.unwrap().unwrap().total, 1, "the bar fills");
    }
}
