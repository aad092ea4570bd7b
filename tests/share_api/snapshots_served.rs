//! Snapshots of shares that live on share servers.

use serde_json::{Value, json};
use support::both_databases;

use crate::{
    served::{create_with, network, paths, site},
    site::{Site, action, snapshot, text, try_create},
};

const WHOLE: &str = "whole";

/// A type of shares on servers whose snapshots can be everything.
async fn whole(site: &Site) {
    let mut specs = json!({ "driver_handles_share_servers": "True" });
    for spec in ["snapshot_support", "create_share_from_snapshot_support", "revert_to_snapshot_support", "mount_snapshot_support"] {
        specs[spec] = json!("True");
    }
    site.share_type(WHOLE, specs).await;
}

/// Where a server's shares and snapshots are mounted.
fn address(path: &str) -> &str {
    path.split(':').next().unwrap()
}

both_databases! {
    async fn a_share_is_made_of_a_snapshot_on_the_server_of_its_source(db) {
        let site = site(&db, json!({})).await;
        whole(&site).await;
        let member = site.member().await;
        let (blue, red) = (network(&member, &["blue"]).await, network(&member, &["red"]).await);
        let source = create_with(&member, &blue, json!({ "share_type": WHOLE })).await;
        member.share_until(&source, "available").await;
        let taken = snapshot(&member, &source).await;
        try_create(&member, json!({ "snapshot_id": taken, "share_network_id": red })).await.expect(400);
        for members in [json!({ "snapshot_id": taken }), json!({ "snapshot_id": taken, "share_network_id": blue })] {
            let copy = text(&try_create(&member, members).await.expect(200)["share"]["id"]);
            assert_eq!(member.share_until(&copy, "available").await["share_network_id"], json!(blue));
        }
        assert_eq!(site.only_server(&blue).await.len(), 36);
        assert_eq!(site.servers(&red).await, Vec::<Value>::new());
    }

    async fn snapshots_are_mounted_reverted_to_and_deleted_on_their_server(db) {
        let site = site(&db, json!({})).await;
        whole(&site).await;
        let member = site.member().await;
        let blue = network(&member, &["blue"]).await;
        let share = create_with(&member, &blue, json!({ "share_type": WHOLE })).await;
        member.share_until(&share, "available").await;
        let taken = snapshot(&member, &share).await;
        let locations = member.get(&format!("/snapshots/{taken}/export-locations")).await.expect(200);
        let path = text(&locations["share_snapshot_export_locations"][0]["path"]);
        assert_eq!(address(&path), address(&paths(&member, &share).await[0]));
        let rule = json!({ "allow_access": { "access_type": "ip", "access_to": "10.1.0.200" } });
        member.post(&crate::site::snapshot_action(&taken), rule).await.expect(202);
        let list = format!("/snapshots/{taken}/access-list");
        member.until(&list, |a| a.body()["snapshot_access_list"][0]["state"] == "active").await;
        member.post(&action(&share), json!({ "revert": { "snapshot_id": taken } })).await.expect(202);
        member.share_until(&share, "available").await;
        crate::site::snapshot_until(&member, &taken, "available").await;
        member.delete(&format!("/snapshots/{taken}")).await.expect(202);
        member.until_gone(&format!("/snapshots/{taken}")).await;
    }
}
