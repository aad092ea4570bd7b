//! Ensuring many shares: the back end's other work goes on meanwhile, and so does everybody else's.

use std::time::{Duration, Instant};

use serde_json::json;
use stowage::config::Config;
use support::{both_databases, db::Db, many_shares, wait};

use crate::{
    ensure::{patient, run},
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
