//! Ensuring shares and giving their servers another subnet: neither goes on beside the other. By the rows of the specification.

use serde_json::{Value, json};
use support::both_databases;

use crate::{
    ensure::{ended, patient},
    live::{Live, able, add, at_rest, faulty, locations, said, site_with, try_add},
};

both_databases! {
    async fn b9_a_share_whose_server_is_being_changed_is_busy_and_keeps_what_the_change_says(db) {
        let site = faulty(&db, &["allocations.update-network-allocations=pending:10"]).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let live = Live::on(&site, &member).await;
        add(&member, &live.network, "green").await;
        // the array has the address already: whoever asks now hears of another location
        patient(&operator).await.expect(202);
        at_rest(&member, &live.network).await;
        let after = locations(&member, &live.share).await;
        assert_eq!(after.len(), 2, "{after:?}");
        let run = ended(&site).await;
        assert_eq!(run["updated"], 0, "it was the change that told of the location: {run}");
        assert_eq!(run["unchanged"].as_i64().unwrap() + run["skipped"].as_i64().unwrap(), 1, "{run}");
        let ids = |all: &[Value]| all.iter().map(|l| l["id"].clone()).collect::<Vec<_>>();
        assert_eq!(ids(&locations(&member, &live.share).await), ids(&after));
    }

    async fn a12_a_share_that_is_being_ensured_is_named_also_when_it_does_not_show_it(db) {
        let slow = json!({ "faults": ["ensure.ensure-shares=delay:2500"] });
        let site = site_with(&db, vec![able("m", slow)], |c| c.share.update_shares_status_on_ensure = false).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let live = Live::on(&site, &member).await;
        patient(&operator).await.expect(202);
        member.share_until(&live.share, "available").await;
        let refused = try_add(&member, &live.network, "green").await.expect(400);
        assert!(said(&refused).contains(&live.share), "{refused}");
        site.untouched(&member, &live).await;
        ended(&site).await;
        add(&member, &live.network, "green").await;
        at_rest(&member, &live.network).await;
    }
}
