//! Snapshots of the shares that are ensured: the driver is told of those that are whole, and says where they can be mounted.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{
    driver::{
        Call,
        types::{Share, ShareProtocol, ShareSnapshot, StringMap},
    },
    store::sql::jobs::JobFilter,
};
use support::{Client, both_databases, db::Db};

use crate::{
    ensure::{HOST, ended, patient},
    site::{Site, backend, snapshot, snapshot_action, snapshot_until, text},
};

const TYPE: &str = "mountable";

async fn start(db: &Db, options: Value) -> Site {
    let site = Site::on(db, vec![backend("m", options)], |_| {}).await;
    site.share_type(TYPE, json!({ "snapshot_support": "True", "mount_snapshot_support": "True" })).await;
    site
}

/// A share with a snapshot that somebody may mount.
async fn mounted(site: &Site) -> (String, String) {
    let member = site.member().await;
    let share = site.available_with(json!({ "share_type": TYPE, "name": "parent" })).await;
    let taken = snapshot(&member, &share).await;
    let rule = json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.9" } });
    member.post(&snapshot_action(&taken), rule).await.expect(202);
    holds(&member, &taken).await;
    (share, taken)
}

async fn holds(member: &Client, taken: &str) {
    let list = format!("/snapshots/{taken}/access-list");
    member.until(&list, |a| a.body()["snapshot_access_list"][0]["state"] == "active").await;
}

/// Where a snapshot can be mounted: path and id.
async fn locations(member: &Client, taken: &str) -> Vec<(String, Value)> {
    let found = member.get(&format!("/snapshots/{taken}/export-locations")).await.expect(200);
    let all = found["share_snapshot_export_locations"].as_array().unwrap();
    all.iter().map(|l| (text(&l["path"]), l["id"].clone())).collect()
}

/// Puts another configuration into force and has the shares ensured by it.
async fn ensured_with(site: &Site, options: Value) -> Value {
    let mut config = stowage::config::Config::clone(&site.app().config.get());
    config.backends = vec![backend("m", options)];
    site.app().config.replace(config.clone());
    site.app().apply(&config).await;
    patient(&site.operator().await).await.expect(202);
    ended(site).await
}

/// The array loses a share with its snapshot.
async fn lose(site: &Site, share: &str, taken: &str) {
    let snapshot = site.app().store.share_snapshot(taken).await.unwrap().unwrap();
    let row = site.app().store.share(share).await.unwrap().unwrap();
    let told = Share {
        id: row.instance_id.clone(),
        name: String::new(),
        project_id: row.project_id.clone(),
        pool: row.pool().to_owned(),
        protocol: ShareProtocol::Nfs,
        size_gib: 1,
        provider_id: None,
        provider_data: None,
        locations: Vec::new(),
        server: None,
        specs: StringMap::new(),
        metadata: StringMap::new(),
    };
    let of_snapshot = ShareSnapshot {
        id: snapshot.instance_id,
        name: String::new(),
        project_id: snapshot.project_id,
        share_id: snapshot.share_instance_id,
        size_gib: 1,
        provider_id: None,
        provider_data: None,
        locations: Vec::new(),
        server: None,
        metadata: StringMap::new(),
    };
    let driver = site.app().drivers.backend(HOST).unwrap();
    let call = Call::internal("lose", Duration::from_secs(10));
    driver.need_share_snapshots().unwrap().delete_snapshot(&call, &of_snapshot, &told).await.unwrap();
    driver.need_shares().unwrap().delete(&call, &told).await.unwrap();
}

async fn access_jobs(site: &Site, taken: &str) -> usize {
    let filter = JobFilter { kind: Some("share_snapshot.access".into()), resource_id: Some(taken.to_owned()), ..Default::default() };
    let jobs = site.app().store.list_jobs(&filter, None, 10).await.unwrap();
    jobs.iter().filter(|j| j.ended_at.is_some()).count()
}

/// Whatever becomes of the share, its snapshot is what it was, and can go.
async fn stay_as_they_are(db: &Db, action: &str, counted: &str) {
    let site = start(db, json!({ "faults": [format!("ensure.ensure-shares@parent={action}")] })).await;
    let member = site.member().await;
    let (share, taken) = mounted(&site).await;
    let before = locations(&member, &taken).await;
    patient(&site.operator().await).await.expect(202);
    let run = ended(&site).await;
    assert_eq!(run[counted], 1, "{run}");
    member.share_until(&share, "available").await;
    snapshot_until(&member, &taken, "available").await;
    assert_eq!(locations(&member, &taken).await, before);
    for path in [format!("/snapshots/{taken}"), format!("/shares/{share}")] {
        member.delete(&path).await.expect(202);
        member.until_gone(&path).await;
    }
}

both_databases! {
    async fn b10_locations_of_snapshots_follow_are_known_again_by_their_path_and_rules_are_sent_again(db) {
        let site = start(&db, json!({ "export_addresses": ["192.0.2.10", "192.0.2.11"] })).await;
        let member = site.member().await;
        let (_, taken) = mounted(&site).await;
        let old = locations(&member, &taken).await;
        let run = ensured_with(&site, json!({ "export_addresses": ["192.0.2.11", "192.0.2.12"] })).await;
        assert_eq!(run["failed"], 0, "{run}");
        let new = locations(&member, &taken).await;
        let at = |list: &[(String, Value)], address: &str| list.iter().find(|(path, _)| path.contains(address)).map(|(_, id)| id.clone());
        assert_eq!((at(&new, "192.0.2.10"), at(&new, "192.0.2.12").is_some(), new.len()), (None, true, 2), "{new:?}");
        assert_eq!(at(&new, "192.0.2.11"), at(&old, "192.0.2.11"), "the same location");
        support::wait::until("the rules to be sent again", || async { (access_jobs(&site, &taken).await >= 2).then_some(()) }).await;
        holds(&member, &taken).await;
    }

    async fn b5_snapshots_of_a_share_that_is_reported_broken_stay_as_they_are(db) {
        let site = start(&db, json!({})).await;
        let member = site.member().await;
        let (share, taken) = mounted(&site).await;
        let before = locations(&member, &taken).await;
        lose(&site, &share, &taken).await;
        patient(&site.operator().await).await.expect(202);
        let run = ended(&site).await;
        assert_eq!(run["broken"], 1, "{run}");
        assert_eq!(member.get(&format!("/shares/{share}")).await.expect(200)["share"]["status"], "error");
        snapshot_until(&member, &taken, "available").await;
        assert_eq!(locations(&member, &taken).await, before);
    }

    async fn b5_snapshots_of_a_share_that_is_left_out_stay_as_they_are(db) {
        stay_as_they_are(&db, "leave-out", "left_out").await;
    }

    async fn b5_snapshots_of_a_share_that_the_driver_fails_on_stay_as_they_are(db) {
        stay_as_they_are(&db, "refuse:invalid", "failed").await;
    }

    async fn b5_snapshots_of_a_share_that_the_driver_traps_on_stay_as_they_are(db) {
        stay_as_they_are(&db, "trap", "failed").await;
    }

    async fn b10_of_snapshots_that_are_not_whole_the_driver_is_not_told(db) {
        let site = start(&db, json!({ "export_addresses": ["192.0.2.10"] })).await;
        let member = site.member().await;
        let (_, taken) = mounted(&site).await;
        let before = locations(&member, &taken).await;
        let told = |status: &'static str| {
            let (path, site) = (snapshot_action(&taken), &site);
            async move { site.operator().await.post(&path, json!({ "reset_status": { "status": status } })).await.expect(202) }
        };
        told("error").await;
        ensured_with(&site, json!({ "export_addresses": ["192.0.2.20"] })).await;
        told("available").await;
        assert_eq!(locations(&member, &taken).await, before);
        patient(&site.operator().await).await.expect(202);
        ended(&site).await;
        assert!(locations(&member, &taken).await[0].0.contains("192.0.2.20"));
    }
}
