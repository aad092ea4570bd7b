//! The older attach actions of a volume, alone and beside `/attachments`.

use serde_json::{Value, json};
use stowage::driver::ErrorKind;
use support::{Client, Persona, both_databases};

use crate::{
    array::Fault,
    site::{Site, attach, complete, connect, connector, create, detach, reserve, uuid},
    spec_d::nova,
    volume_actions::act,
};

async fn initialize(client: &Client, volume: &str, host: &str) -> support::Answer {
    act(client, volume, "os-initialize_connection", json!({ "connector": connector(host) })).await
}

async fn terminate(client: &Client, volume: &str, host: &str) -> support::Answer {
    act(client, volume, "os-terminate_connection", json!({ "connector": connector(host) })).await
}

async fn attached_to_host(client: &Client, volume: &str, host: &str) {
    act(client, volume, "os-attach", json!({ "host_name": host, "mountpoint": "/dev/vdb" })).await.expect(202);
}

/// Attachments as `/attachments` has them: (status, instance).
async fn attachments(client: &Client, volume: &str) -> Vec<(String, Value)> {
    let list = client.at("3.27").get(&format!("/attachments?volume_id={volume}")).await.expect(200);
    list["attachments"].as_array().unwrap().iter().map(|a| (a["status"].as_str().unwrap().to_owned(), a["instance"].clone())).collect()
}

both_databases! {
    async fn a_volume_is_reserved_connected_attached_and_goes_back_the_same_way(db) {
        let site = Site::on(&db).await;
        let member = site.member().await;
        let volume = site.volume().await;
        act(&member, &volume, "os-reserve", json!({})).await.expect(202);
        assert_eq!(site.status(&volume).await, ("attaching".into(), "attaching".into()));

        let info = initialize(&member, &volume, "c1").await.expect(200)["connection_info"].clone();
        let keys: Vec<&String> = info.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["data", "driver_volume_type", "enforce_multipath"]);
        assert_eq!((&info["driver_volume_type"], &info["enforce_multipath"]), (&json!("iscsi"), &json!(false)));
        let data = &info["data"];
        assert_eq!((&data["target_iqn"], &data["access_mode"]), (&json!(format!("iqn.2026-01.test:{volume}")), &json!("rw")));
        assert_eq!((&data["volume_id"], &data["encrypted"], &data["qos_specs"]), (&json!(volume), &json!(false), &Value::Null));
        assert_eq!((site.array.hosts_of(&volume), site.status(&volume).await.0), (vec!["c1".to_owned()], "attaching".into()));

        let server = uuid();
        act(&member, &volume, "os-attach", json!({ "instance_uuid": server, "mountpoint": "/dev/vdc", "mode": "rw" })).await.expect(202);
        assert_eq!(site.status(&volume).await, ("in-use".into(), "attached".into()));
        let shown = member.get(&format!("/volumes/{volume}")).await.expect(200)["volume"]["attachments"].clone();
        assert_eq!((shown.as_array().unwrap().len(), &shown[0]["server_id"], &shown[0]["device"]), (1, &json!(server), &json!("/dev/vdc")));

        act(&member, &volume, "os-begin_detaching", json!({})).await.expect(202);
        assert_eq!(site.status(&volume).await.0, "detaching");
        let shown = member.get(&format!("/volumes/{volume}")).await.expect(200)["volume"]["attachments"].clone();
        assert_eq!(shown.as_array().unwrap().len(), 1, "whoever detaches still finds it");
        let nova = nova(&site, &member).await;
        terminate(&nova, &volume, "c1").await.expect(202);
        assert!(site.array.hosts_of(&volume).is_empty());
        assert_eq!(site.status(&volume).await.0, "detaching");
        act(&nova, &volume, "os-detach", json!({ "attachment_id": shown[0]["attachment_id"] })).await.expect(202);
        assert_eq!(site.status(&volume).await, ("available".into(), "detached".into()));
        assert!(attachments(&member, &volume).await.is_empty());
    }
}

#[tokio::test]
async fn a_reservation_keeps_others_out_and_is_taken_back() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    // as clients send it: nothing, or an empty object
    act(&member, &volume, "os-reserve", Value::Null).await.expect(202);
    let text = act(&member, &volume, "os-reserve", json!({})).await.fault(400);
    assert_eq!(text, "Invalid volume: Volume status must be available to reserve, but the status is attaching.");
    let body = json!({ "attachment": { "volume_uuid": volume, "instance_uuid": uuid() } });
    assert_eq!(member.at("3.27").post("/attachments", body).await.status, 400);
    assert_eq!(member.delete(&format!("/volumes/{volume}")).await.status, 400);
    act(&member, &volume, "os-unreserve", Value::Null).await.expect(202);
    assert_eq!(site.status(&volume).await, ("available".into(), "detached".into()));
    // nothing to take back: nothing happens
    act(&member, &volume, "os-unreserve", json!({})).await.expect(202);
    let id = reserve(&member, &volume, None).await;
    act(&member, &volume, "os-unreserve", json!({})).await.expect(202);
    assert_eq!((site.status(&volume).await.0, attachments(&member, &volume).await.len()), ("reserved".into(), 1));
    detach(&member, &id).await.expect(200);
}

#[tokio::test]
async fn taking_a_reservation_back_lets_go_whom_it_was_connected_to() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    act(&member, &volume, "os-reserve", json!({})).await.expect(202);
    initialize(&member, &volume, "c1").await.expect(200);
    act(&member, &volume, "os-unreserve", json!({})).await.expect(202);
    assert!(site.array.hosts_of(&volume).is_empty());
    assert_eq!(site.status(&volume).await.0, "available");
}

#[tokio::test]
async fn a_terminate_leaves_the_reservation_and_a_second_one_does_nothing() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    act(&member, &volume, "os-reserve", json!({})).await.expect(202);
    initialize(&member, &volume, "c1").await.expect(200);
    terminate(&member, &volume, "c1").await.expect(202);
    terminate(&member, &volume, "c1").await.expect(202);
    assert_eq!((site.array.count("disconnect"), site.status(&volume).await.0), (1, "attaching".into()));
    // it is used after all
    initialize(&member, &volume, "c2").await.expect(200);
    attached_to_host(&member, &volume, "c2").await;
    assert_eq!((site.array.hosts_of(&volume), site.status(&volume).await.0), (vec!["c2".to_owned()], "in-use".into()));
}

#[tokio::test]
async fn a_connection_that_nobody_reserved_is_an_attachment_and_goes_when_it_ends() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let first = initialize(&member, &volume, "c1").await.expect(200);
    assert_eq!((site.status(&volume).await.0, attachments(&member, &volume).await.len()), ("attaching".into(), 1));
    // the same host again is told the same again
    assert_eq!(initialize(&member, &volume, "c1").await.expect(200), first);
    assert_eq!(attachments(&member, &volume).await.len(), 1);
    assert_eq!(initialize(&member, &volume, "c2").await.status, 400, "only one may have it");
    terminate(&member, &volume, "c1").await.expect(202);
    assert!(attachments(&member, &volume).await.is_empty() && site.array.hosts_of(&volume).is_empty());
    assert_eq!(site.status(&volume).await, ("available".into(), "detached".into()));
}

#[tokio::test]
async fn attach_takes_the_reservation_over_and_said_twice_is_said_once() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let server = uuid();
    act(&member, &volume, "os-reserve", json!({})).await.expect(202);
    for _ in 0..2 {
        act(&member, &volume, "os-attach", json!({ "instance_uuid": server, "mountpoint": "/dev/vdb" })).await.expect(202);
        assert_eq!(attachments(&member, &volume).await, [("attached".to_owned(), json!(server))]);
    }
    let other = json!({ "instance_uuid": uuid(), "mountpoint": "/dev/vdb" });
    let text = act(&member, &volume, "os-attach", other).await.fault(400);
    assert_eq!(text, "Invalid volume: Volume status must be available to attach, but the status is in-use.");
    // attached, connected only later: it is the same attachment
    initialize(&member, &volume, "c1").await.expect(200);
    assert_eq!(attachments(&member, &volume).await, [("attached".to_owned(), json!(server))]);
}

#[tokio::test]
async fn attach_needs_somebody_a_mountpoint_and_a_mode_that_the_volume_allows() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let long = "x".repeat(256);
    for bad in [
        json!({}),
        json!({ "mountpoint": "/dev/vdb" }),
        json!({ "instance_uuid": uuid() }),
        json!({ "host_name": "c1", "mountpoint": "" }),
        json!({ "host_name": "c1", "mountpoint": long }),
        json!({ "host_name": long, "mountpoint": "/dev/vdb" }),
        json!({ "instance_uuid": "seven", "mountpoint": "/dev/vdb" }),
        json!({ "host_name": "c1", "mountpoint": "/dev/vdb", "mode": "w" }),
        json!({ "host_name": "c1", "mountpoint": "/dev/vdb", "color": "red" }),
        Value::Null,
    ] {
        assert_eq!(act(&member, &volume, "os-attach", bad.clone()).await.status, 400, "{bad}");
    }
    for (action, bad) in [
        ("os-initialize_connection", json!({})),
        ("os-initialize_connection", json!({ "connector": {} })),
        ("os-initialize_connection", json!({ "connector": "c1" })),
        ("os-initialize_connection", json!({ "connector": { "host": "x".repeat(5000) } })),
        ("os-terminate_connection", json!({ "connector": null })),
        ("os-detach", json!({ "attachment_id": "seven" })),
        ("os-detach", json!({ "color": "red" })),
    ] {
        assert_eq!(act(&member, &volume, action, bad.clone()).await.status, 400, "{action} {bad}");
    }
    assert_eq!(site.status(&volume).await.0, "available");
    act(&member, &volume, "os-update_readonly_flag", json!({ "readonly": true })).await.expect(202);
    let rw = json!({ "host_name": "c1", "mountpoint": "/dev/vdb", "mode": "rw" });
    assert!(act(&member, &volume, "os-attach", rw).await.fault(400).contains("may only be read"));
    act(&member, &volume, "os-attach", json!({ "host_name": "c1", "mountpoint": "/dev/vdb", "mode": "ro" })).await.expect(202);
    assert_eq!(initialize(&member, &volume, "c1").await.expect(200)["connection_info"]["data"]["access_mode"], "ro");
}

both_databases! {
    async fn a_detach_is_announced_and_taken_back(db) {
        let site = Site::on(&db).await;
        let member = site.member().await;
        let volume = site.multiattach_volume().await;
        assert!(act(&member, &volume, "os-begin_detaching", json!({})).await.fault(400).contains("must be 'in-use'"));
        act(&member, &volume, "os-roll_detaching", json!({})).await.expect(202);
        let (one, _two) = (attach(&member, &volume, "c1").await, attach(&member, &volume, "c2").await);
        act(&member, &volume, "os-begin_detaching", json!({})).await.expect(202);
        assert_eq!(site.status(&volume).await.0, "detaching");
        assert_eq!(act(&member, &volume, "os-begin_detaching", json!({})).await.status, 400);
        assert_eq!(act(&member, &volume, "os-extend", json!({ "new_size": 2 })).await.status, 400);
        act(&member, &volume, "os-roll_detaching", json!({})).await.expect(202);
        assert_eq!(site.status(&volume).await, ("in-use".into(), "attached".into()));
        // the detach of one ends the announcement for the others
        act(&member, &volume, "os-begin_detaching", json!({})).await.expect(202);
        act(&member, &volume, "os-detach", json!({ "attachment_id": one })).await.expect(202);
        assert_eq!(site.status(&volume).await, ("in-use".into(), "attached".into()));
    }
}

#[tokio::test]
async fn detach_finds_the_only_attachment_and_says_when_it_cannot() {
    let site = Site::start().await;
    let member = site.member().await;
    let (volume, other) = (site.multiattach_volume().await, site.volume().await);
    act(&member, &volume, "os-detach", Value::Null).await.expect(202);
    let (one, two) = (attach(&member, &volume, "c1").await, attach(&member, &volume, "c2").await);
    let nova = nova(&site, &member).await;
    assert!(act(&member, &volume, "os-detach", json!({})).await.fault(409).starts_with("ConflictNovaUsingAttachment: "));
    let text = act(&nova, &volume, "os-detach", json!({})).await.fault(400);
    assert!(text.ends_with("More than one attachment, but no attachment_id provided."), "{text}");
    assert!(act(&member, &other, "os-detach", json!({ "attachment_id": one })).await.fault(400).contains("Mismatched"));
    act(&member, &volume, "os-detach", json!({ "attachment_id": one })).await.expect(202);
    // it is gone: so it is detached
    act(&member, &volume, "os-detach", json!({ "attachment_id": one })).await.expect(202);
    assert_eq!((site.array.hosts_of(&volume), site.status(&volume).await.0), (vec!["c2".to_owned()], "in-use".into()));
    act(&member, &volume, "os-detach", json!({})).await.expect(202);
    assert_eq!(site.status(&volume).await.0, "available");
    assert_eq!(member.at("3.27").get(&format!("/attachments/{two}")).await.status, 404);
}

both_databases! {
    async fn a_server_that_migrates_is_connected_on_its_next_host_first(db) {
        let site = Site::on(&db).await;
        let member = site.member().await;
        let volume = site.volume().await;
        let nova = nova(&site, &member).await;
        act(&nova, &volume, "os-reserve", json!({})).await.expect(202);
        initialize(&nova, &volume, "c1").await.expect(200);
        act(&nova, &volume, "os-attach", json!({ "instance_uuid": uuid(), "mountpoint": "/dev/vdb" })).await.expect(202);
        initialize(&nova, &volume, "c2").await.expect(200);
        assert_eq!((site.array.hosts_of(&volume), site.status(&volume).await.0), (vec!["c1".to_owned(), "c2".to_owned()], "in-use".into()));
        terminate(&nova, &volume, "c1").await.expect(202);
        assert_eq!((site.array.hosts_of(&volume), site.status(&volume).await.0), (vec!["c2".to_owned()], "in-use".into()));
        // the server still has it, on the other host: nobody else may take it away
        for (action, members) in [("os-detach", json!({})), ("os-terminate_connection", json!({ "connector": connector("c2") }))] {
            assert_eq!(act(&member, &volume, action, members).await.status, 409, "{action}");
        }
        terminate(&nova, &volume, "c2").await.expect(202);
        act(&nova, &volume, "os-detach", json!({})).await.expect(202);
        assert_eq!(site.status(&volume).await, ("available".into(), "detached".into()));
        assert!(attachments(&member, &volume).await.is_empty());
    }
}

#[tokio::test]
async fn a_detach_without_a_terminate_ends_the_connection_too() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    act(&member, &volume, "os-reserve", json!({})).await.expect(202);
    initialize(&member, &volume, "c1").await.expect(200);
    attached_to_host(&member, &volume, "c1").await;
    act(&member, &volume, "os-detach", json!({})).await.expect(202);
    assert!(site.array.hosts_of(&volume).is_empty());
    assert_eq!(site.status(&volume).await.0, "available");
}

#[tokio::test]
async fn one_api_goes_on_with_what_the_other_began() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    // reserved and connected anew, attached and detached of old
    let server = uuid();
    let id = reserve(&member, &volume, Some(&server)).await;
    connect(&member, &id, "c1").await.expect(200);
    act(&member, &volume, "os-attach", json!({ "instance_uuid": server, "mountpoint": "/dev/vdc" })).await.expect(202);
    assert_eq!(attachments(&member, &volume).await, [("attached".to_owned(), json!(server))]);
    let nova = nova(&site, &member).await;
    terminate(&nova, &volume, "c1").await.expect(202);
    assert_eq!(site.status(&volume).await.0, "reserved", "an attachment without its connection");
    act(&nova, &volume, "os-detach", json!({ "attachment_id": id })).await.expect(202);
    assert_eq!(site.status(&volume).await.0, "available");
    // reserved of old, the rest anew
    act(&member, &volume, "os-reserve", json!({})).await.expect(202);
    let list = member.at("3.27").get(&format!("/attachments?volume_id={volume}")).await.expect(200);
    let id = list["attachments"][0]["id"].as_str().unwrap().to_owned();
    connect(&member, &id, "c2").await.expect(200);
    complete(&member, &id).await.expect(204);
    assert_eq!(site.status(&volume).await.0, "in-use");
    detach(&member, &id).await.expect(200);
    assert_eq!((site.status(&volume).await.0, site.array.hosts_of(&volume).len()), ("available".into(), 0));
}

both_databases! {
    async fn a_failed_connect_leaves_what_was_there_before_it(db) {
        let site = Site::on(&db).await;
        let member = site.member().await;
        let (reserved, free) = (site.volume().await, site.volume().await);
        act(&member, &reserved, "os-reserve", json!({})).await.expect(202);
        for (volume, status) in [(&reserved, "attaching"), (&free, "available")] {
            for _ in 0..3 {
                site.array.fault("connect", Fault::LoseAnswer(ErrorKind::Internal));
            }
            let text = initialize(&member, volume, "c1").await.fault(500);
            assert!(text.starts_with("Unable to fetch connection information from backend."), "{text}");
            assert_eq!((site.status(volume).await.0.as_str(), site.array.hosts_of(volume).len()), (status, 0));
            // what the connector lacks is the caller's to say
            let bad = json!({ "connector": { "host": "c1" } });
            assert!(act(&member, volume, "os-initialize_connection", bad).await.fault(400).contains("initiator"));
            assert_eq!(site.status(volume).await.0, status);
            initialize(&member, volume, "c1").await.expect(200);
        }
    }
}

#[tokio::test]
async fn an_export_that_could_not_be_taken_back_is_tried_again_by_itself() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    for _ in 0..3 {
        site.array.fault("connect", Fault::LoseAnswer(ErrorKind::Internal));
    }
    site.array.fault("disconnect", Fault::Refuse(ErrorKind::Internal));
    initialize(&member, &volume, "c1").await.fault(500);
    site.until("the export to be gone", || async { site.array.hosts_of(&volume).is_empty() }).await;
    site.until("the volume to be available", || async { site.status(&volume).await.0 == "available" }).await;
    assert!(attachments(&member, &volume).await.is_empty());
}

#[tokio::test]
async fn a_failed_terminate_or_detach_is_500_and_changes_nothing() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    act(&member, &volume, "os-reserve", json!({})).await.expect(202);
    initialize(&member, &volume, "c1").await.expect(200);
    attached_to_host(&member, &volume, "c1").await;
    act(&member, &volume, "os-begin_detaching", json!({})).await.expect(202);
    site.array.fault("disconnect", Fault::Refuse(ErrorKind::Auth));
    let text = terminate(&member, &volume, "c1").await.fault(500);
    assert!(text.starts_with("Unable to terminate volume connection from backend."), "{text}");
    site.array.fault("disconnect", Fault::Refuse(ErrorKind::Auth));
    assert!(act(&member, &volume, "os-detach", json!({})).await.fault(500).starts_with("Unable to delete the attachment."));
    assert_eq!((site.status(&volume).await.0, site.array.hosts_of(&volume)), ("in-use".into(), vec!["c1".to_owned()]));
    act(&member, &volume, "os-detach", json!({})).await.expect(202);
    assert_eq!(site.status(&volume).await.0, "available");
}

#[tokio::test]
async fn past_the_deadline_the_caller_gets_504_and_a_repeat_joins() {
    let site = Site::start_with(|c| c.jobs.wait = std::time::Duration::from_millis(300)).await;
    let member = site.member().await;
    let volume = site.volume().await;
    site.array.hold("connect");
    assert!(initialize(&member, &volume, "c1").await.fault(504).contains("goes on"));
    assert_eq!(initialize(&member, &volume, "c1").await.status, 504);
    site.array.release("connect");
    site.until("the connection to stand", || async {
        attachments(&member, &volume).await.len() == 1 && site.array.hosts_of(&volume) == ["c1"]
    })
    .await;
    member
        .at("3.27")
        .until(&format!("/attachments/detail?volume_id={volume}"), |a| {
            !a.body()["attachments"][0]["connection_info"].as_object().unwrap().is_empty()
        })
        .await;
    assert_eq!(site.array.count("connect"), 1, "the repeat had joined");
    site.array.hold("disconnect");
    assert_eq!(terminate(&member, &volume, "c1").await.status, 504);
    assert_eq!(act(&member, &volume, "os-detach", json!({})).await.status, 504);
    site.array.release("disconnect");
    site.until("the volume to be available", || async { site.status(&volume).await.0 == "available" }).await;
    assert!(site.array.hosts_of(&volume).is_empty());
}

both_databases! {
    async fn of_many_reservations_of_an_ordinary_volume_by_both_apis_one_succeeds(db) {
        let site = Site::on(&db).await;
        let member = site.member().await;
        let volume = site.volume().await;
        let asks: Vec<_> = (0..8)
            .map(|n| {
                let (member, volume) = (member.at("3.27"), volume.clone());
                tokio::spawn(async move {
                    if n % 2 == 0 {
                        return act(&member, &volume, "os-reserve", json!({})).await.status.as_u16();
                    }
                    let body = json!({ "attachment": { "volume_uuid": volume, "instance_uuid": uuid() } });
                    member.post("/attachments", body).await.status.as_u16()
                })
            })
            .collect();
        let mut won = 0;
        for ask in asks {
            let status = ask.await.unwrap();
            assert!([200, 202, 400].contains(&status), "{status}");
            won += usize::from(status < 300);
        }
        assert_eq!((won, attachments(&member, &volume).await.len()), (1, 1));
    }
}

#[tokio::test]
async fn another_projects_volume_is_not_found_and_readers_may_not() {
    let site = Site::start().await;
    let volume = site.volume().await;
    let (stranger, reader) = (site.block(Persona::Stranger).await, site.block(Persona::Reader).await);
    for (action, members) in [
        ("os-reserve", json!({})),
        ("os-unreserve", json!({})),
        ("os-begin_detaching", json!({})),
        ("os-roll_detaching", json!({})),
        ("os-initialize_connection", json!({ "connector": connector("c1") })),
        ("os-terminate_connection", json!({ "connector": connector("c1") })),
        ("os-attach", json!({ "host_name": "c1", "mountpoint": "/dev/vdb" })),
        ("os-detach", json!({})),
        ("os-force_detach", json!({})),
    ] {
        assert_eq!(act(&stranger, &volume, action, members.clone()).await.status, 404, "{action}");
        assert_eq!(act(&reader, &volume, action, members.clone()).await.status, 403, "{action}");
        assert_eq!(act(&reader, &uuid(), action, members).await.status, 404, "{action}");
    }
    assert_eq!((site.status(&volume).await.0, site.array.count("connect")), ("available".into(), 0));
}

#[tokio::test]
async fn a_volume_that_is_nowhere_or_in_maintenance_is_not_attached() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let body = json!({ "volume_type": { "name": "impossible", "extra_specs": { "color": "red" } } });
    operator.post("/types", body).await.expect(200);
    let nowhere = create(&member, json!({ "volume_type": "impossible" })).await;
    member.until(&format!("/volumes/{nowhere}"), |a| a.body()["volume"]["status"] == "error").await;
    act(&operator, &nowhere, "os-reset_status", json!({ "status": "available" })).await.expect(202);
    let maintained = site.volume().await;
    act(&operator, &maintained, "os-reset_status", json!({ "status": "maintenance" })).await.expect(202);
    for volume in [&nowhere, &maintained] {
        for (action, members) in [
            ("os-reserve", json!({})),
            ("os-initialize_connection", json!({ "connector": connector("c1") })),
            ("os-attach", json!({ "host_name": "c1", "mountpoint": "/dev/vdb" })),
        ] {
            assert_eq!(act(&member, volume, action, members).await.status, 400, "{action}");
        }
        assert!(attachments(&member, volume).await.is_empty());
    }
}

#[tokio::test]
async fn what_is_said_attached_while_its_connect_fails_stays_attached() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    site.array.hold("connect");
    site.array.fault("connect", Fault::Refuse(ErrorKind::Exhausted));
    let connecting = tokio::spawn({
        let (member, volume) = (member.clone(), volume.clone());
        async move { initialize(&member, &volume, "c1").await }
    });
    site.until("the connect to begin", || async { site.array.count("connect") == 1 }).await;
    attached_to_host(&member, &volume, "c1").await;
    site.array.release("connect");
    assert_eq!(connecting.await.unwrap().status, 500);
    assert_eq!(attachments(&member, &volume).await, [("attached".to_owned(), Value::Null)]);
    assert_eq!(site.status(&volume).await.0, "in-use");
}

#[tokio::test]
async fn what_is_said_attached_while_its_terminate_fails_stays_attached() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    initialize(&member, &volume, "c1").await.expect(200);
    site.array.hold("disconnect");
    site.array.fault("disconnect", Fault::Refuse(ErrorKind::Auth));
    let terminating = tokio::spawn({
        let (member, volume) = (member.clone(), volume.clone());
        async move { terminate(&member, &volume, "c1").await }
    });
    site.until("the disconnect to begin", || async { site.array.count("disconnect") == 1 }).await;
    attached_to_host(&member, &volume, "c1").await;
    site.array.release("disconnect");
    assert_eq!(terminating.await.unwrap().status, 500);
    assert_eq!(attachments(&member, &volume).await, [("attached".to_owned(), Value::Null)]);
    assert_eq!((site.status(&volume).await.0, site.array.hosts_of(&volume)), ("in-use".into(), vec!["c1".to_owned()]));
}

#[tokio::test]
async fn a_connect_that_failed_takes_nothing_from_the_terminate_that_has_it_by_then() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    for _ in 0..3 {
        site.array.fault("connect", Fault::LoseAnswer(ErrorKind::Internal));
    }
    // the connect's own way back fails
    site.array.fault("disconnect", Fault::Refuse(ErrorKind::Internal));
    let connecting = tokio::spawn({
        let (member, volume) = (member.clone(), volume.clone());
        async move { initialize(&member, &volume, "c1").await }
    });
    // its last run
    site.until("the connect to fail twice", || async { site.array.count("connect") == 2 }).await;
    site.array.hold("connect");
    site.until("the last connect to begin", || async { site.array.count("connect") == 3 }).await;
    let terminating = tokio::spawn({
        let (member, volume) = (member.clone(), volume.clone());
        async move { terminate(&member, &volume, "c1").await }
    });
    let store = &site.app().store;
    site.until("the terminate to have it", || async { store.attachments_of(&volume).await.unwrap()[0].work.as_deref() == Some("unplug") })
        .await;
    site.array.release("connect");
    terminating.await.unwrap().expect(202);
    assert!(site.array.hosts_of(&volume).is_empty(), "the terminate has ended the connection when it is answered");
    assert_ne!(connecting.await.unwrap().status, 200);
    site.until("the volume to be available", || async { site.status(&volume).await.0 == "available" }).await;
    assert!(attachments(&member, &volume).await.is_empty());
}

#[tokio::test]
async fn a_forced_detach_takes_a_text_for_no_connector() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let volume = site.volume().await;
    let id = attach(&member, &volume, "c1").await;
    act(&operator, &volume, "os-force_detach", json!({ "attachment_id": id, "connector": "c1" })).await.expect(202);
    assert!(site.array.hosts_of(&volume).is_empty());
}

#[tokio::test]
async fn an_attachment_of_a_server_goes_no_other_way_than_by_os_detach_while_the_server_is_connected() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let server = uuid();
    act(&member, &volume, "os-attach", json!({ "instance_uuid": server, "mountpoint": "/dev/vdb" })).await.expect(202);
    // the server's next host, which it migrates to
    let nova = nova(&site, &member).await;
    initialize(&nova, &volume, "c2").await.expect(200);
    let list = member.at("3.27").get(&format!("/attachments?volume_id={volume}")).await.expect(200);
    let attached = list["attachments"].as_array().unwrap().iter().find(|a| a["status"] == "attached").unwrap()["id"].clone();
    let attached = attached.as_str().unwrap();
    let expected = format!("ConflictNovaUsingAttachment: Detach volume from instance {server} using the Compute API");
    assert_eq!(act(&member, &volume, "os-detach", json!({ "attachment_id": attached })).await.fault(409), expected);
    assert_eq!(detach(&member, attached).await.fault(409), expected);
    assert_eq!(site.array.hosts_of(&volume), ["c2"]);
    detach(&nova, attached).await.expect(200);
}

#[tokio::test]
async fn what_is_exported_to_read_from_is_not_said_to_be_written_to() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let mut reader = connector("c1");
    reader["mode"] = json!("ro");
    act(&member, &volume, "os-initialize_connection", json!({ "connector": reader })).await.expect(200);
    act(&member, &volume, "os-attach", json!({ "host_name": "c1", "mountpoint": "/dev/vdb", "mode": "rw" })).await.expect(202);
    let list = member.at("3.27").get(&format!("/attachments/detail?volume_id={volume}")).await.expect(200);
    assert_eq!((&list["attachments"][0]["status"], &list["attachments"][0]["attach_mode"]), (&json!("attached"), &json!("ro")));
}
