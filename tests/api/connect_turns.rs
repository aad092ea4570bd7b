//! Connects and disconnects of one host on one back end take turns where targets are shared; and a connection that moves
//! leaves nothing behind.

use serde_json::json;
use stowage::{
    api::route::Api,
    driver::{ErrorKind, capability::SharedTargets},
    store::sql::jobs::JobFilter,
};
use support::{Client, Persona, TestApp, both_databases, db::Db};
use tokio::task::JoinHandle;

use crate::{
    array::Fault,
    site::{Site, attach, connect, connector, detach, reserve},
};

/// A site over `db`, and the database's URL.
async fn site(db: &Db, shared_targets: SharedTargets) -> (Site, String) {
    let url = if db.is_postgres() { db.options.url.clone() } else { String::new() };
    let site = Site::start_with(|c| {
        c.quota.volumes = -1;
        c.quota.gigabytes = -1;
        if !url.is_empty() {
            c.database.url.clone_from(&url);
        }
    })
    .await;
    site.array.report(|r| r.features.shared_targets = shared_targets);
    site.serve("stowage@a", &site.array).await;
    (site, url)
}

fn connecting(client: &Client, attachment: &str, host: &str) -> JoinHandle<support::Answer> {
    let (client, attachment, host) = (client.clone(), attachment.to_owned(), host.to_owned());
    tokio::spawn(async move { connect(&client, &attachment, &host).await })
}

/// Waits until so many jobs of a kind were turned away at least once, and have come again.
async fn turned_away(site: &Site, kind: &str, jobs: usize) {
    let filter = JobFilter { kind: Some(kind.to_owned()), ..JobFilter::default() };
    let again = || async { site.app().jobs.list(&filter, None, 100).await.unwrap().iter().filter(|j| j.attempts > 1).count() };
    site.until("the others to be turned away", || async { again().await == jobs }).await;
}

both_databases! {
    async fn one_host_is_connected_to_one_volume_at_a_time(db) {
        let (site, _) = site(&db, SharedTargets::Yes).await;
        let member = site.member().await;
        let mut waiting = Vec::new();
        for _ in 0..3 {
            let volume = site.volume().await;
            waiting.push(reserve(&member, &volume, None).await);
        }
        let elsewhere = reserve(&member, &site.volume().await, None).await;
        site.array.hold("connect");
        let running: Vec<_> = waiting.iter().map(|id| connecting(&member, id, "c1")).collect();
        let other = connecting(&member, &elsewhere, "c2");
        site.until("one of each host to be called", || async { site.array.count("connect") == 2 }).await;
        turned_away(&site, "attachment.connect", 2).await;
        assert_eq!(site.array.ends("connect").iter().filter(|end| end.starts_with("c1 ")).count(), 1);
        site.array.release("connect");
        for answer in running.into_iter().chain([other]) {
            answer.await.unwrap().expect(200);
        }
        assert_eq!(site.array.count("connect"), 4);
    }

    async fn a_disconnect_waits_for_the_connect_of_its_host(db) {
        let (site, _) = site(&db, SharedTargets::Unknown).await;
        let member = site.member().await;
        let attached = attach(&member, &site.volume().await, "c1").await;
        let reserved = reserve(&member, &site.volume().await, None).await;
        site.array.hold("connect");
        let running = connecting(&member, &reserved, "c1");
        site.until("the connect to hang", || async { site.array.count("connect") == 2 }).await;
        let leaving = tokio::spawn({
            let (member, attached) = (member.clone(), attached.clone());
            async move { detach(&member, &attached).await }
        });
        turned_away(&site, "attachment.disconnect", 1).await;
        assert_eq!(site.array.count("disconnect"), 0);
        site.array.release("connect");
        running.await.unwrap().expect(200);
        leaving.await.unwrap().expect(200);
        assert_eq!(site.array.count("disconnect"), 1);
    }

    async fn where_targets_are_not_shared_nobody_waits(db) {
        let (site, _) = site(&db, SharedTargets::No).await;
        let member = site.member().await;
        let (one, two) = (reserve(&member, &site.volume().await, None).await, reserve(&member, &site.volume().await, None).await);
        site.array.hold("connect");
        let running = [connecting(&member, &one, "c1"), connecting(&member, &two, "c1")];
        site.until("both to be called", || async { site.array.count("connect") == 2 }).await;
        site.array.release("connect");
        for answer in running {
            answer.await.unwrap().expect(200);
        }
    }

    async fn whoever_waits_for_its_turn_for_long_leaves_the_back_ends_room_to_others(db) {
        let (site, _) = site(&db, SharedTargets::Yes).await;
        let member = site.member().await;
        let mut waiting = Vec::new();
        for _ in 0..20 {
            let volume = site.volume().await;
            waiting.push(reserve(&member, &volume, None).await);
        }
        site.array.hold("connect");
        let running: Vec<_> = waiting.iter().map(|id| connecting(&member, id, "c1")).collect();
        site.until("one to be called", || async { site.array.count("connect") == 1 }).await;
        // a back end runs 16 jobs at once here; were the other 19 among them, this would end when they do
        site.volume().await;
        assert_eq!(site.array.count("connect"), 1);
        site.array.release("connect");
        for answer in running {
            answer.await.unwrap().expect(200);
        }
    }

    async fn two_processes_take_turns_on_one_host(db) {
        if !db.is_postgres() {
            return; // a SQLite file has one process
        }
        let (site, url) = site(&db, SharedTargets::Yes).await;
        let member = site.member().await;
        let (one, two) = (reserve(&member, &site.volume().await, None).await, reserve(&member, &site.volume().await, None).await);
        let second = TestApp::builder().backends([]).database(url).start().await;
        second.app().drivers.insert(site.array.backend("stowage@a"));
        let member_of_second = site.personas().await.client(Api::Block, second.url(Api::Block), Persona::Member);
        site.array.hold("connect");
        let first = connecting(&member, &one, "c1");
        site.until("the first to be called", || async { site.array.count("connect") == 1 }).await;
        let other = connecting(&member_of_second, &two, "c1");
        turned_away(&site, "attachment.connect", 1).await;
        assert_eq!(site.array.count("connect"), 1);
        site.array.release("connect");
        first.await.unwrap().expect(200);
        other.await.unwrap().expect(200);
        second.stop().await;
    }

    async fn another_initiator_of_the_same_host_leaves_no_export_to_the_old_one(db) {
        let (site, _) = site(&db, SharedTargets::Yes).await;
        let member = site.member().await;
        let volume = site.volume().await;
        let id = attach(&member, &volume, "c1").await;
        update(&member, &id, "iqn.new").await.expect(200);
        let old = connector("c1")["initiator"].as_str().unwrap().to_owned();
        assert_eq!(site.array.ends("connect"), [format!("c1 {old}"), "c1 iqn.new".to_owned()]);
        assert_eq!(site.array.ends("disconnect"), [format!("c1 {old}")]);
        assert_eq!(site.array.hosts_of(&volume), ["c1"]);
        update(&member, &id, "iqn.new").await.expect(200);
        assert_eq!(site.array.count("disconnect"), 1, "the same connector again ends nothing");
        detach(&member, &id).await.expect(200);
        assert_eq!(site.array.ends("disconnect")[1..], ["c1 iqn.new".to_owned()]);
        assert_eq!(site.status(&volume).await.0, "available");
    }

    async fn an_attachment_whose_new_connection_fails_after_the_old_one_ended_is_a_reservation(db) {
        let (site, _) = site(&db, SharedTargets::Yes).await;
        let member = site.member().await;
        let volume = site.volume().await;
        let id = attach(&member, &volume, "c1").await;
        site.array.fault("connect", Fault::Refuse(ErrorKind::Exhausted));
        assert_eq!(update(&member, &id, "iqn.new").await.status, 500);
        let shown = member.at("3.27").get(&format!("/attachments/{id}")).await.expect(200)["attachment"].clone();
        assert_eq!((&shown["status"], &shown["connection_info"]), (&json!("reserved"), &json!({})));
        assert!(site.array.hosts_of(&volume).is_empty());
        assert_eq!(site.status(&volume).await.0, "reserved");
    }
}

#[tokio::test]
async fn an_export_that_a_failed_connect_left_goes_before_another_connector_is_connected() {
    let db = Db::sqlite().await;
    let (site, _) = site(&db, SharedTargets::Yes).await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    // connected, the answer lost as often as it is tried; and the way back fails as well
    for _ in 0..3 {
        site.array.fault("connect", Fault::LoseAnswer(ErrorKind::Transient));
    }
    site.array.fault("disconnect", Fault::Refuse(ErrorKind::Internal));
    assert_eq!(connect(&member, &id, "c1").await.status, 500);
    assert_eq!(site.array.hosts_of(&volume), ["c1"], "the export is left");
    connect(&member, &id, "c2").await.expect(200);
    assert_eq!(site.array.hosts_of(&volume), ["c2"]);
    detach(&member, &id).await.expect(200);
    assert!(site.array.hosts_of(&volume).is_empty());
}

#[tokio::test]
async fn an_export_that_still_cannot_be_taken_back_is_no_reason_not_to_connect_and_goes_with_the_attachment() {
    let db = Db::sqlite().await;
    let (site, _) = site(&db, SharedTargets::Yes).await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    for _ in 0..3 {
        site.array.fault("connect", Fault::LoseAnswer(ErrorKind::Transient));
    }
    for _ in 0..2 {
        site.array.fault("disconnect", Fault::Refuse(ErrorKind::Internal));
    }
    assert_eq!(connect(&member, &id, "c1").await.status, 500);
    connect(&member, &id, "c2").await.expect(200);
    assert_eq!(site.array.hosts_of(&volume), ["c1", "c2"]);
    detach(&member, &id).await.expect(200);
    assert!(site.array.hosts_of(&volume).is_empty());
}

/// The attachment's connector on host `c1` becomes one with this initiator.
async fn update(client: &Client, attachment: &str, initiator: &str) -> support::Answer {
    let mut connector = connector("c1");
    connector["initiator"] = json!(initiator);
    client.at("3.44").put(&format!("/attachments/{attachment}"), json!({ "attachment": { "connector": connector } })).await
}
