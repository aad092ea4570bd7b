//! The file of a driver is replaced in the plugin folder while the service runs: its shares are ensured when the new one says
//! something else of itself. By the rows of the specification.

use serde_json::{Value, json};
use stowage::store::sql::jobs::JobFilter;
use support::{both_databases, db::Db, drivers, wait};

use crate::{
    ensure::{HOST, ended, patient, run},
    site::{Site, backend},
};

/// How many jobs of ensure there are, all of which have ended.
async fn looks(site: &Site) -> Option<usize> {
    let filter = JobFilter { kind: Some("backend.ensure".into()), ..JobFilter::default() };
    let jobs = site.app().store.list_jobs(&filter, None, 100).await.unwrap();
    jobs.iter().all(|j| j.ended_at.is_some()).then_some(jobs.len())
}

/// A service whose shares were ensured, and that run.
async fn ensured(db: &Db) -> (Site, String, Value) {
    let site = Site::on(db, vec![backend("m", json!({}))], |_| {}).await;
    let share = site.available().await;
    patient(&site.operator().await).await.expect(202);
    let before = ended(&site).await;
    (site, share, before)
}

/// Puts these bytes into the folder, and waits until they serve and have been asked.
async fn replace(site: &Site, bytes: &[u8]) {
    let before = wait::until("the jobs to end", || looks(site)).await;
    let serving = || site.app().drivers.backend(HOST).unwrap().driver.sha256.clone();
    let old = serving();
    drivers::put(&site.driver_folder(), "memory", bytes);
    wait::until("the swap", || async { (serving() != old).then_some(()) }).await;
    wait::until("the look at the fingerprint", || async { looks(site).await.filter(|now| *now > before) }).await;
}

both_databases! {
    async fn b8_a_driver_with_another_fingerprint_takes_over_and_the_shares_are_ensured_without_a_restart(db) {
        let (site, share, before) = ensured(&db).await;
        replace(&site, &drivers::other_words("memory", "export-layout-1", "export-layout-2")).await;
        let after = ended(&site).await;
        assert_ne!(after["run_id"], before["run_id"]);
        assert_eq!((&after["cause"], &after["state"], &after["unchanged"]), (&json!("change"), &json!("done"), &json!(1)), "{after}");
        site.member().await.share_until(&share, "available").await;
        // and back
        replace(&site, &drivers::other_build("memory", 1)).await;
        let back = ended(&site).await;
        assert!(back["run_id"] != after["run_id"] && back["cause"] == "change", "{back}");
    }

    async fn b8_a_driver_with_the_same_fingerprint_takes_over_and_nothing_is_ensured(db) {
        let (site, _, before) = ensured(&db).await;
        replace(&site, &drivers::other_build("memory", 1)).await;
        assert_eq!(run(&site).await["run_id"], before["run_id"]);
    }
}
