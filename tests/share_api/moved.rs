//! A driver that is asked for something else finds a share in another pool: the share shows it, and its room counts there.

use serde_json::{Value, json};
use stowage::clock;
use support::both_databases;

use crate::{
    ensure::{ended, patient},
    live::{Live, able, add, at_rest, site_with},
    site::{Site, backend, snapshot},
};

fn two_pools() -> Value {
    json!({ "pools": ["p1:1000", "p2:1000"], "multiple_subnets": true, "allocation_update": true })
}

/// The one share is written down in the pool in which it is not; the pool in which it is.
async fn misplace(site: &Site, share: &str) -> String {
    let row = site.app().store.share(share).await.unwrap().unwrap();
    let (right, wrong) = (row.host.clone().unwrap(), if row.pool() == "p1" { "stowage@m#p2" } else { "stowage@m#p1" });
    let mut tx = site.app().store.begin().await.unwrap();
    assert!(tx.move_allocation(share, wrong).await.unwrap());
    assert!(tx.share_found(share, None, None, Some(wrong), clock::now()).await.unwrap());
    tx.commit().await.unwrap();
    right
}

/// (pool, GiB allocated, resources) of those pools that have any.
async fn allocated(site: &Site) -> Vec<(String, i64, i64)> {
    let pools = site.app().store.pools_of("stowage@m").await.unwrap();
    pools.into_iter().filter(|p| p.resources > 0).map(|p| (p.name, p.allocated_gib, p.resources)).collect()
}

async fn host(site: &Site, share: &str) -> String {
    site.app().store.share(share).await.unwrap().unwrap().host.unwrap()
}

both_databases! {
    async fn a9_an_update_of_a_live_server_tells_in_which_pool_a_share_is(db) {
        let site = site_with(&db, vec![able("m", two_pools())], |_| {}).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        let right = misplace(&site, &live.share).await;
        add(&member, &live.network, "red").await;
        at_rest(&member, &live.network).await;
        assert_eq!(host(&site, &live.share).await, right);
        assert_eq!(allocated(&site).await, [(right, 1, 1)]);
    }

    async fn b10_a_share_that_was_ensured_counts_where_it_was_found(db) {
        let site = Site::on(&db, vec![backend("m", two_pools())], |_| {}).await;
        let member = site.member().await;
        let share = site.available().await;
        let taken = snapshot(&member, &share).await;
        let right = misplace(&site, &share).await;
        patient(&site.operator().await).await.expect(202);
        assert_eq!(ended(&site).await["updated"], 1);
        assert_eq!(host(&site, &share).await, right);
        assert_eq!(allocated(&site).await, [(right, 1, 1)]);
        // and goes from there
        for path in [format!("/snapshots/{taken}"), format!("/shares/{share}")] {
            member.delete(&path).await.expect(202);
            member.until_gone(&path).await;
        }
        assert_eq!(allocated(&site).await, []);
    }
}
