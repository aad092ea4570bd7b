//! A run of ensure that does not end in its time.

use serde_json::json;
use support::both_databases;

use crate::{
    ensure::{ended, patient},
    site::{Site, backend},
};

both_databases! {
    async fn b5_what_a_run_holds_when_its_time_is_over_is_what_it_was_and_its_owner_reads_so(db) {
        // the first step takes long enough
        let options = json!({ "faults": ["ensure.fingerprint=delay:3000"] });
        let site = Site::on(&db, vec![backend("m", options)], |_| {}).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let shares = [site.available().await, site.available().await];
        patient(&operator).await.expect(202);
        // at its next step its time is over
        site.sql("UPDATE jobs SET expires_at = 0 WHERE kind = 'backend.ensure'").await;
        let run = ended(&site).await;
        assert_eq!((&run["state"], &run["skipped"], &run["done"]), (&json!("given_up"), &json!(2), &json!(2)), "{run}");
        for id in &shares {
            assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"], "available");
            let said = site.messages(id).await;
            assert!(said.len() == 1 && said[0].starts_with("ensure: The operation did not end in time"), "{said:?}");
        }
    }
}
