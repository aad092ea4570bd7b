//! How much a share server holds, and that it may go with its last share: as the operator says.

use serde_json::{Value, json};
use stowage::config::BackendConfig;
use support::{Client, both_databases};

use crate::{
    served::{available, create_with, network, one, servers, site_with},
    site::{action, snapshot, try_create},
};

/// A back end whose servers hold so many shares and so many GiB.
fn limited(shares: i64, gib: i64) -> BackendConfig {
    BackendConfig { max_shares_per_share_server: shares, max_share_server_size: gib, ..servers("m", json!({})) }
}

async fn sized(client: &Client, network: &str, gib: i64) -> String {
    let id = create_with(client, network, json!({ "size": gib })).await;
    client.share_until(&id, "available").await;
    id
}

async fn server_of(operator: &Client, share: &str) -> Value {
    operator.get(&format!("/shares/{share}")).await.expect(200)["share"]["share_server_id"].clone()
}

async fn drop_share(client: &Client, share: &str) {
    client.delete(&format!("/shares/{share}")).await.expect(202);
    client.until_gone(&format!("/shares/{share}")).await;
}

both_databases! {
    async fn a_share_beyond_the_number_gets_another_server_and_room_that_is_left_is_used(db) {
        let site = site_with(&db, vec![limited(2, -1)], |_| {}).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let (a, b, c) = (available(&member, &id).await, available(&member, &id).await, available(&member, &id).await);
        let of = |share: String| { let operator = operator.clone(); async move { server_of(&operator, &share).await } };
        assert_eq!(of(a.clone()).await, of(b.clone()).await);
        assert_ne!(of(a.clone()).await, of(c.clone()).await);
        drop_share(&member, &a).await;
        let d = available(&member, &id).await;
        assert_eq!(of(d).await, of(b).await, "the oldest with room");
        assert_eq!(site.servers(&id).await.len(), 2);
    }

    async fn of_shares_that_come_at_once_no_server_gets_too_many(db) {
        let site = site_with(&db, vec![limited(2, -1)], |_| {}).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let shares = futures::future::join_all((0..6).map(|_| available(&member, &id))).await;
        let mut loads = std::collections::BTreeMap::<String, usize>::new();
        for share in &shares {
            *loads.entry(server_of(&operator, share).await.to_string()).or_default() += 1;
        }
        assert_eq!(loads.values().copied().collect::<Vec<_>>(), [2, 2, 2], "{loads:?}");
    }

    async fn the_size_counts_shares_and_their_snapshots_and_an_empty_server_takes_any(db) {
        let site = site_with(&db, vec![limited(-1, 5)], |_| {}).await;
        site.share_type("snappy", json!({ "driver_handles_share_servers": "True", "snapshot_support": "True" })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let first = create_with(&member, &id, json!({ "size": 2, "share_type": "snappy" })).await;
        member.share_until(&first, "available").await;
        let second = sized(&member, &id, 1).await;
        assert_eq!(server_of(&operator, &first).await, server_of(&operator, &second).await);
        snapshot(&member, &first).await;
        let third = sized(&member, &id, 1).await;
        assert_ne!(server_of(&operator, &first).await, server_of(&operator, &third).await, "2 + 1 + 2 are there");
        let large = sized(&member, &id, 9).await;
        assert_eq!(site.servers(&id).await.len(), 3);
        let server = server_of(&operator, &large).await;
        drop_share(&member, &large).await;
        let again = sized(&member, &id, 9).await;
        assert_eq!(server_of(&operator, &again).await, server, "it was empty");
    }

    async fn a_share_made_of_a_snapshot_stays_with_it_whatever_the_limits(db) {
        let site = site_with(&db, vec![limited(1, 1)], |_| {}).await;
        let mut specs = json!({ "driver_handles_share_servers": "True" });
        for spec in ["snapshot_support", "create_share_from_snapshot_support"] {
            specs[spec] = json!("True");
        }
        site.share_type("whole", specs).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let source = create_with(&member, &id, json!({ "share_type": "whole" })).await;
        member.share_until(&source, "available").await;
        let taken = snapshot(&member, &source).await;
        let copy = try_create(&member, json!({ "snapshot_id": taken })).await.expect(200)["share"]["id"].as_str().unwrap().to_owned();
        member.share_until(&copy, "available").await;
        assert_eq!(server_of(&operator, &copy).await, server_of(&operator, &source).await);
        // growing, too
        member.post(&action(&source), json!({ "extend": { "new_size": 2 } })).await.expect(202);
        member.share_until(&source, "available").await;
    }

    async fn pools_show_the_limits(db) {
        let site = site_with(&db, vec![limited(7, 70)], |_| {}).await;
        let pools = site.operator().await.get("/scheduler-stats/pools/detail").await.expect(200);
        let shown = &pools["pools"][0]["capabilities"];
        assert_eq!((&shown["max_shares_per_share_server"], &shown["max_share_server_size"]), (&json!(7), &json!(70)));
    }

    async fn a_server_goes_with_its_last_share_if_the_operator_says_so(db) {
        let site = site_with(&db, vec![servers("m", json!({}))], |c| c.share.delete_share_server_with_last_share = true).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let (a, b) = (available(&member, &id).await, available(&member, &id).await);
        let server = site.only_server(&id).await;
        drop_share(&member, &a).await;
        assert_eq!(operator.get(&one(&server)).await.expect(200)["share_server"]["status"], "active");
        drop_share(&member, &b).await;
        operator.until_gone(&one(&server)).await;
        assert!(site.given().await.is_empty(), "its address is given back");
    }

    async fn a_server_that_may_not_go_by_itself_stays_when_its_last_share_goes(db) {
        let site = site_with(&db, vec![servers("m", json!({}))], |c| c.share.delete_share_server_with_last_share = true).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        operator.post(&format!("{}/action", one(&server)), json!({ "reset_status": { "status": "error" } })).await.expect(202);
        drop_share(&member, &share).await;
        assert_eq!(operator.get(&one(&server)).await.expect(200)["share_server"]["status"], "error", "an operator says when");
    }
}
