//! Attachments and multi-attach: specifications D1 to D9 as far as they are served, and the rules around them.

use serde_json::{Value, json};
use stowage::driver::ErrorKind;
use support::Persona;

use crate::{
    array::Fault,
    site::{Site, attach, complete, connect, connector, create, detach, reserve, uuid},
};

#[tokio::test]
async fn an_attachment_goes_from_reserved_over_attaching_to_attached_and_the_volume_with_it() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    assert_eq!(site.status(&volume).await, ("reserved".into(), "reserved".into()));
    let reserved = member.at("3.27").get(&format!("/attachments/{id}")).await.expect(200)["attachment"].clone();
    let expected = json!({
        "id": id, "status": "reserved", "instance": null, "volume_id": volume, "attached_at": "", "detached_at": "", "attach_mode": "null", "connection_info": {}
    });
    assert_eq!(reserved, expected);

    let connected = connect(&member, &id, "c1").await.expect(200)["attachment"].clone();
    let info = &connected["connection_info"];
    assert_eq!((&connected["status"], &connected["attach_mode"]), (&json!("attaching"), &json!("rw")));
    assert_eq!((&info["driver_volume_type"], &info["attachment_id"], &info["access_mode"]), (&json!("iscsi"), &json!(id), &json!("rw")));
    assert_eq!(info["target_iqn"], format!("iqn.2026-01.test:{volume}"));
    assert_eq!(site.status(&volume).await, ("attaching".into(), "attaching".into()));
    assert_eq!(site.array.hosts_of(&volume), ["c1"]);

    complete(&member, &id).await.expect(204);
    assert_eq!(site.status(&volume).await, ("in-use".into(), "attached".into()));
    let shown = member.get(&format!("/volumes/{volume}")).await.expect(200)["volume"]["attachments"].clone();
    assert_eq!((&shown[0]["id"], &shown[0]["attachment_id"], &shown[0]["device"]), (&json!(volume), &json!(id), &json!("/dev/vdb")));
    assert_eq!(shown[0]["host_name"], Value::Null, "hosts are not for members");

    assert_eq!(detach(&member, &id).await.expect(200), json!({ "attachments": [] }));
    assert_eq!(site.status(&volume).await, ("available".into(), "detached".into()));
    assert!(site.array.hosts_of(&volume).is_empty());
    assert_eq!(detach(&member, &id).await.status, 404);
}

#[tokio::test]
async fn a_connector_at_creation_connects_at_once() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let body = json!({ "attachment": { "volume_uuid": volume, "instance_uuid": uuid(), "connector": connector("c1"), "mode": "ro" } });
    let made = member.at("3.54").post("/attachments", body).await.expect(200)["attachment"].clone();
    assert_eq!(
        (&made["status"], &made["attach_mode"], &made["connection_info"]["access_mode"]),
        (&json!("attaching"), &json!("ro"), &json!("ro"))
    );
    assert_eq!(site.status(&volume).await.0, "attaching");
}

#[tokio::test]
async fn attachments_exist_from_3_27_and_os_complete_from_3_44() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    assert_eq!(member.at("3.26").get("/attachments").await.status, 404);
    let id = reserve(&member, &volume, None).await;
    assert_eq!(member.at("3.43").post(&format!("/attachments/{id}/action"), json!({ "os-complete": {} })).await.status, 404);
    let mode = json!({ "attachment": { "volume_uuid": volume, "mode": "ro" } });
    assert_eq!(member.at("3.53").post("/attachments", mode).await.status, 400);
}

#[tokio::test]
async fn d1_the_old_create_parameter_is_refused_and_says_what_to_do() {
    let site = Site::start().await;
    let answer = site.member().await.post("/volumes", json!({ "volume": { "size": 1, "multiattach": true } })).await;
    assert!(answer.fault(400).contains("use multiattach enabled volume types"));
}

#[tokio::test]
async fn d1_only_the_exact_spec_makes_a_volume_multiattach() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    for (name, spec, expected) in [("exact", "<is> True", true), ("lower", "<is> true", false)] {
        operator.post("/types", json!({ "volume_type": { "name": name, "extra_specs": { "multiattach": spec } } })).await.expect(200);
        let id = site.volume_with(json!({ "volume_type": name })).await;
        assert_eq!(member.get(&format!("/volumes/{id}")).await.expect(200)["volume"]["multiattach"], expected, "{spec}");
    }
}

#[tokio::test]
async fn d2_an_operator_can_switch_multiattach_off() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "\"volume:multiattach\": \"role:admin\"\n").unwrap();
    let path = file.path().to_owned();
    let site = Site::start_with(move |c| c.policy.file = path).await;
    let name = site.multiattach_type().await;
    let answer = site.member().await.post("/volumes", json!({ "volume": { "size": 1, "volume_type": name } })).await;
    assert_eq!(answer.fault(403), "Policy doesn't allow volume:multiattach to be performed.");
    site.volume().await;
}

#[tokio::test]
async fn whether_several_servers_may_share_what_they_boot_from_is_policy() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "\"volume:multiattach_bootable_volume\": \"role:admin\"\n").unwrap();
    let path = file.path().to_owned();
    let site = Site::start_with(move |c| c.policy.file = path).await;
    let member = site.member().await.at("3.44");
    let volume = site.multiattach_volume().await;
    let say = |bootable: bool| {
        let (member, path) = (member.clone(), format!("/volumes/{volume}/action"));
        async move { member.post(&path, json!({ "os-set_bootable": { "bootable": bootable } })).await }
    };
    let text = "Policy doesn't allow volume:multiattach_bootable_volume to be performed.";
    say(true).await.expect(200);
    reserve(&member, &volume, None).await;
    // a second attachment of what is bootable
    let body = json!({ "attachment": { "volume_uuid": volume, "instance_uuid": uuid() } });
    assert_eq!(member.post("/attachments", body.clone()).await.fault(403), text);
    // and making bootable what has two
    say(false).await.expect(200);
    member.post("/attachments", body).await.expect(200);
    assert_eq!(say(true).await.fault(403), text);
    assert_eq!(member.get(&format!("/volumes/{volume}")).await.expect(200)["volume"]["bootable"], "false");
    say(false).await.expect(200);
    let operator = site.operator().await;
    operator.post(&format!("/volumes/{volume}/action"), json!({ "os-set_bootable": { "bootable": true } })).await.expect(200);
}

#[tokio::test]
async fn d3_multiattach_is_refused_at_once_when_every_back_end_has_reported_and_none_does_it() {
    let site = Site::start().await;
    let member = site.member().await;
    let name = site.multiattach_type().await;
    site.array.report(|r| r.features.multiattach = false);
    site.serve("stowage@a", &site.array).await;
    let ask = json!({ "volume": { "size": 1, "volume_type": name } });
    assert!(member.post("/volumes", ask.clone()).await.fault(400).contains("multi-attach"));
    assert_eq!(site.used(&member, "volumes").await, 0);
    site.array.report(|r| r.features.multiattach = true);
    site.serve("stowage@a", &site.array).await;
    member.post("/volumes", ask).await.expect(202);
}

#[tokio::test]
async fn d3_before_every_back_end_has_reported_it_is_accepted_and_placement_says_why() {
    let app = support::TestApp::without_backends().await;
    let site = Site { array: crate::array::Array::new(&[]), app };
    let member = site.member().await;
    let name = site.multiattach_type().await;
    let id = create(&member, json!({ "volume_type": name })).await;
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    let messages = member.at("3.5").get(&format!("/messages?resource_uuid={id}")).await.expect(200);
    assert!(messages["messages"][0]["user_message"].as_str().unwrap().contains("No storage back end is ready"), "{messages}");
}

#[tokio::test]
async fn d4_a_second_attachment_of_an_ordinary_volume_fails_and_leaves_the_first_alone() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let first = attach(&member, &volume, "c1").await;
    let body = json!({ "attachment": { "volume_uuid": volume, "instance_uuid": uuid() } });
    let text = member.at("3.27").post("/attachments", body).await.fault(400);
    assert!(
        text.starts_with("Invalid volume: Volume")
            && text.contains("status must be available or downloading to reserve")
            && text.contains("in-use"),
        "{text}"
    );
    assert_eq!(site.status(&volume).await.0, "in-use");
    assert_eq!(member.at("3.27").get(&format!("/attachments/{first}")).await.expect(200)["attachment"]["status"], "attached");
}

#[tokio::test]
async fn d4_a_multiattach_volume_takes_a_second_attachment_at_every_stage_of_the_first() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let a = reserve(&member, &volume, Some(&uuid())).await;
    let b = reserve(&member, &volume, Some(&uuid())).await; // while the first is reserved
    connect(&member, &a, "c1").await.expect(200);
    let c = reserve(&member, &volume, Some(&uuid())).await; // while the first is attaching
    assert_eq!(site.status(&volume).await.0, "attaching");
    complete(&member, &a).await.expect(204);
    let d = reserve(&member, &volume, Some(&uuid())).await; // while the first is attached
    assert_eq!(site.status(&volume).await.0, "in-use");
    for (id, host) in [(&b, "c2"), (&c, "c3"), (&d, "c4")] {
        connect(&member, id, host).await.expect(200);
        complete(&member, id).await.expect(204);
    }
    assert_eq!(site.array.hosts_of(&volume), ["c1", "c2", "c3", "c4"]);
    // D9: show and the detailed list have them all
    let shown = member.get(&format!("/volumes/{volume}")).await.expect(200)["volume"]["attachments"].as_array().unwrap().len();
    let listed = member.get("/volumes/detail").await.expect(200)["volumes"][0]["attachments"].as_array().unwrap().len();
    assert_eq!((shown, listed), (4, 4));
}

#[tokio::test]
async fn d4_mode_is_of_each_attachment() {
    let site = Site::start().await;
    let member = site.member().await.at("3.54");
    let volume = site.multiattach_volume().await;
    for (host, mode) in [("c1", "ro"), ("c2", "rw")] {
        let body = json!({ "attachment": { "volume_uuid": volume, "connector": connector(host), "mode": mode } });
        let made = member.post("/attachments", body).await.expect(200);
        assert_eq!(made["attachment"]["attach_mode"], mode);
    }
    let mut with_mode = connector("c3");
    with_mode["mode"] = json!("ro");
    let body = json!({ "attachment": { "volume_uuid": volume, "connector": with_mode } });
    assert_eq!(member.post("/attachments", body).await.expect(200)["attachment"]["attach_mode"], "ro");
    let bad = json!({ "attachment": { "volume_uuid": volume, "mode": "rwx" } });
    assert_eq!(member.post("/attachments", bad).await.status, 400);
}

#[tokio::test]
async fn d5_the_volumes_status_follows_all_attachments_in_every_order_of_leaving() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let attached = attach(&member, &volume, "c1").await;
    let attaching = reserve(&member, &volume, Some(&uuid())).await;
    connect(&member, &attaching, "c2").await.expect(200);
    let reserved = reserve(&member, &volume, None).await;
    assert_eq!(site.status(&volume).await, ("in-use".into(), "attached".into()));
    let left = detach(&member, &attached).await.expect(200);
    assert_eq!(left["attachments"].as_array().unwrap().len(), 2);
    assert_eq!(site.status(&volume).await, ("attaching".into(), "attaching".into()));
    // the compute service's own: it has an instance and a connection
    let nova = member.with_header("x-service-token", site.block(Persona::Service).await.token());
    detach(&nova, &attaching).await.expect(200);
    assert_eq!(site.status(&volume).await, ("reserved".into(), "reserved".into()));
    detach(&member, &reserved).await.expect(200);
    assert_eq!(site.status(&volume).await, ("available".into(), "detached".into()));
}

#[tokio::test]
async fn d7_what_a_server_uses_is_removed_by_the_compute_service_only() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let volume = site.volume().await;
    let instance = uuid();
    let id = reserve(&member, &volume, Some(&instance)).await;
    connect(&member, &id, "c1").await.expect(200);
    let expected = format!("ConflictNovaUsingAttachment: Detach volume from instance {instance} using the Compute API");
    assert_eq!(detach(&member, &id).await.fault(409), expected);
    assert_eq!(detach(&operator, &id).await.fault(409), expected);
    let nova = member.with_header("x-service-token", site.block(Persona::Service).await.token());
    detach(&nova, &id).await.expect(200);
    // a reservation of a server is nobody's data yet
    let id = reserve(&member, &volume, Some(&instance)).await;
    detach(&member, &id).await.expect(200);
    // and what has no server is its owner's
    let id = attach(&member, &volume, "c1").await;
    detach(&member, &id).await.expect(200);
}

#[tokio::test]
async fn d8_the_driver_disconnects_for_the_last_attachment_on_a_host_only() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let first = attach(&member, &volume, "c1").await;
    let second = attach(&member, &volume, "c1").await;
    let elsewhere = attach(&member, &volume, "c2").await;
    detach(&member, &first).await.expect(200);
    assert_eq!((site.array.count("disconnect"), site.array.hosts_of(&volume)), (0, vec!["c1".to_owned(), "c2".to_owned()]));
    detach(&member, &second).await.expect(200);
    assert_eq!(site.array.hosts_of(&volume), ["c2"]);
    detach(&member, &elsewhere).await.expect(200);
    assert_eq!((site.array.count("disconnect"), site.status(&volume).await.0), (2, "available".into()));
}

#[tokio::test]
async fn d8_two_deletes_at_once_on_one_host_disconnect_once() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let (a, b) = (attach(&member, &volume, "c1").await, attach(&member, &volume, "c1").await);
    let (x, y) = tokio::join!(detach(&member, &a), detach(&member, &b));
    x.expect(200);
    y.expect(200);
    assert!(site.array.hosts_of(&volume).is_empty());
    assert_eq!((site.array.count("disconnect"), site.status(&volume).await.0), (1, "available".into()));
}

#[tokio::test]
async fn d9_attachments_are_filtered_by_volume_instance_and_status() {
    let site = Site::start().await;
    let member = site.member().await.at("3.31");
    let (one, two) = (site.volume().await, site.volume().await);
    let instance = uuid();
    let a = reserve(&member, &one, Some(&instance)).await;
    let b = attach(&member, &two, "c1").await;
    let listed = |query: String| {
        let member = member.clone();
        async move {
            let body = member.get(&format!("/attachments{query}")).await.expect(200);
            body["attachments"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        }
    };
    assert_eq!(listed(String::new()).await, [b.clone(), a.clone()]);
    assert_eq!(listed(format!("?volume_id={one}")).await, [a.clone()]);
    assert_eq!(listed(format!("?instance_id={instance}")).await, [a.clone()]);
    assert_eq!(listed("?status=attached".into()).await, [b.clone()]);
    assert_eq!(listed(format!("?limit=1&marker={b}")).await, [a.clone()]);
    assert_eq!(member.get("/attachments?color=red").await.status, 400);
    let summary = member.get("/attachments").await.expect(200)["attachments"][0].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(summary, ["id", "instance", "status", "volume_id"]);
    let detail = member.get("/attachments/detail").await.expect(200);
    assert_eq!(detail["attachments"][0].as_object().unwrap().len(), 8);
    let stranger = site.block(Persona::Stranger).await.at("3.27");
    assert_eq!(stranger.get("/attachments").await.expect(200)["attachments"], json!([]));
    assert_eq!(stranger.get(&format!("/attachments/{a}")).await.status, 404);
    assert_eq!(detach(&stranger, &a).await.status, 404);
    assert_eq!(connect(&stranger, &a, "c9").await.status, 404);
    assert_eq!(complete(&stranger, &a).await.status, 404);
    let operator = site.operator().await.at("3.27");
    assert_eq!(operator.get("/attachments?all_tenants=1").await.expect(200)["attachments"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_migrating_server_holds_an_ordinary_volume_twice_on_two_hosts() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let instance = uuid();
    let source = reserve(&member, &volume, Some(&instance)).await;
    connect(&member, &source, "c1").await.expect(200);
    complete(&member, &source).await.expect(204);
    let target = reserve(&member, &volume, Some(&instance)).await;
    assert!(connect(&member, &target, "c1").await.fault(409).contains("duplicate connectors"));
    connect(&member, &target, "c2").await.expect(200);
    complete(&member, &target).await.expect(204);
    let nova = member.with_header("x-service-token", site.block(Persona::Service).await.token());
    detach(&nova, &source).await.expect(200);
    assert_eq!((site.array.hosts_of(&volume), site.status(&volume).await.0), (vec!["c2".to_owned()], "in-use".into()));
}

#[tokio::test]
async fn a_failed_connect_is_500_takes_the_export_back_and_leaves_the_reservation() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    for _ in 0..3 {
        site.array.fault("connect", Fault::LoseAnswer(ErrorKind::Internal));
    }
    assert!(connect(&member, &id, "c1").await.fault(500).starts_with("Unable to update the attachment."));
    assert!(site.array.hosts_of(&volume).is_empty());
    assert_eq!(member.at("3.27").get(&format!("/attachments/{id}")).await.expect(200)["attachment"]["status"], "reserved");
    assert_eq!(site.status(&volume).await, ("reserved".into(), "reserved".into()));
    connect(&member, &id, "c1").await.expect(200);
}

#[tokio::test]
async fn a_failed_connect_does_not_cut_the_other_attachment_on_that_host() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    attach(&member, &volume, "c1").await;
    let second = reserve(&member, &volume, Some(&uuid())).await;
    for _ in 0..3 {
        site.array.fault("connect", Fault::Refuse(ErrorKind::Internal));
    }
    connect(&member, &second, "c1").await.fault(500);
    assert_eq!(site.array.hosts_of(&volume), ["c1"]);
    assert_eq!(site.status(&volume).await.0, "in-use");
}

#[tokio::test]
async fn a_connector_that_lacks_something_is_400_and_says_what() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = reserve(&member, &site.volume().await, None).await;
    let body = json!({ "attachment": { "connector": { "host": "c1" } } });
    let text = member.at("3.27").put(&format!("/attachments/{id}"), body).await.fault(400);
    assert!(text.contains("initiator"), "{text}");
    for bad in
        [json!({}), json!({ "connector": null }), json!({ "connector": {} }), json!({ "connector": "c1" }), json!({ "connector": [1] })]
    {
        assert_eq!(member.at("3.27").put(&format!("/attachments/{id}"), json!({ "attachment": bad })).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn a_repeated_put_with_the_same_connector_joins_and_another_connector_is_refused() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    site.array.hold("connect");
    let first = tokio::spawn({
        let (member, id) = (member.clone(), id.clone());
        async move { connect(&member, &id, "c1").await }
    });
    site.until("the connect to begin", || async { site.array.count("connect") == 1 }).await;
    let second = tokio::spawn({
        let (member, id) = (member.clone(), id.clone());
        async move { connect(&member, &id, "c1").await }
    });
    assert_eq!(connect(&member, &id, "c2").await.status, 409);
    site.array.release("connect");
    let (first, second) = (first.await.unwrap().expect(200), second.await.unwrap().expect(200));
    assert_eq!(first, second);
    assert_eq!(site.array.count("connect"), 1);
}

#[tokio::test]
async fn past_the_deadline_the_caller_gets_504_and_the_job_goes_on() {
    let site = Site::start_with(|c| c.jobs.wait = std::time::Duration::from_millis(300)).await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    site.array.hold("connect");
    assert!(connect(&member, &id, "c1").await.fault(504).contains("goes on"));
    site.array.release("connect");
    let path = format!("/attachments/{id}");
    member.at("3.27").until(&path, |a| a.body()["attachment"]["status"] == "attaching").await;
    site.array.hold("disconnect");
    assert_eq!(detach(&member, &id).await.status, 504);
    assert_eq!(member.at("3.27").get(&path).await.expect(200)["attachment"]["status"], "detaching");
    site.array.release("disconnect");
    member.at("3.27").until_gone(&path).await;
    assert_eq!(site.status(&volume).await.0, "available");
}

#[tokio::test]
async fn a_repeated_delete_joins_the_one_under_way() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = attach(&member, &volume, "c1").await;
    site.array.hold("disconnect");
    let deletes: Vec<_> = (0..2)
        .map(|_| {
            let (member, id) = (member.clone(), id.clone());
            tokio::spawn(async move { detach(&member, &id).await })
        })
        .collect();
    site.until("the disconnect to begin", || async { site.array.count("disconnect") == 1 }).await;
    // both have been accepted before the array answers, or the second finds nothing left
    site.array.release("disconnect");
    for d in deletes {
        let status = d.await.unwrap().status.as_u16();
        assert!([200, 404].contains(&status), "{status}");
    }
    assert_eq!(site.array.count("disconnect"), 1);
    assert_eq!(site.status(&volume).await.0, "available");
}

#[tokio::test]
async fn deleting_an_attachment_while_it_is_being_connected_leaves_no_export() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    site.array.hold("connect");
    let put = tokio::spawn({
        let (member, id) = (member.clone(), id.clone());
        async move { connect(&member, &id, "c1").await }
    });
    site.until("the connect to begin", || async { site.array.count("connect") == 1 }).await;
    let delete = tokio::spawn({
        let (member, id) = (member.clone(), id.clone());
        async move { detach(&member, &id).await }
    });
    let path = format!("/attachments/{id}");
    member.at("3.27").until(&path, |a| a.body()["attachment"]["status"] == "detaching").await;
    site.array.release("connect");
    assert_eq!(put.await.unwrap().status, 409);
    delete.await.unwrap().expect(200);
    assert!(site.array.hosts_of(&volume).is_empty());
    assert_eq!(site.status(&volume).await.0, "available");
}

#[tokio::test]
async fn a_failed_disconnect_is_500_and_changes_nothing() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = attach(&member, &volume, "c1").await;
    site.array.fault("disconnect", Fault::Refuse(ErrorKind::Auth));
    assert!(detach(&member, &id).await.fault(500).starts_with("Unable to delete the attachment."));
    assert_eq!(site.status(&volume).await, ("in-use".into(), "attached".into()));
    assert_eq!(member.at("3.27").get(&format!("/attachments/{id}")).await.expect(200)["attachment"]["status"], "attached");
    detach(&member, &id).await.expect(200);
}

#[tokio::test]
async fn a_volume_in_error_takes_no_attachment() {
    let site = Site::start().await;
    let member = site.member().await;
    site.array.fault("create", Fault::Refuse(ErrorKind::Invalid));
    let volume = create(&member, json!({})).await;
    member.until(&format!("/volumes/{volume}"), |a| a.body()["volume"]["status"] == "error").await;
    let answer = member.at("3.27").post("/attachments", json!({ "attachment": { "volume_uuid": volume, "instance_uuid": uuid() } })).await;
    assert!(answer.fault(400).contains("error state"));
}

#[tokio::test]
async fn of_many_reservations_at_once_of_an_ordinary_volume_one_succeeds() {
    let site = Site::start().await;
    let member = site.member().await.at("3.27");
    let volume = site.volume().await;
    let asks = (0..8).map(|_| {
        let (member, volume) = (member.clone(), volume.clone());
        tokio::spawn(async move {
            member.post("/attachments", json!({ "attachment": { "volume_uuid": volume, "instance_uuid": uuid() } })).await.status.as_u16()
        })
    });
    let mut statuses: Vec<u16> = Vec::new();
    for ask in asks.collect::<Vec<_>>() {
        statuses.push(ask.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400, 400, 400, 400, 400, 400, 400]);
}

#[tokio::test]
async fn a_connector_too_large_to_be_kept_is_refused_before_anything_happens() {
    let site = Site::start().await;
    let member = site.member().await.at("3.54");
    let volume = site.volume().await;
    let path = format!("/attachments/{}", reserve(&member, &volume, None).await);
    let with = |key: &str, value: Value| {
        let mut c = connector("c1");
        c[key] = value;
        c
    };
    let many: serde_json::Map<String, Value> = (0..12).map(|n| (format!("k{n}"), json!("x".repeat(4000)))).collect();
    for c in [
        with("initiator", json!("x".repeat(70_000))),
        with("host", json!("x".repeat(4097))),
        with("wwpns", json!(vec!["5001"; 600])),
        with("other", Value::Object(many)),
        with("other", json!([[[[[1]]]]])),
    ] {
        let refusal = member.put(&path, json!({ "attachment": { "connector": c } })).await.fault(400);
        assert!(refusal.starts_with("Invalid input received: The connector "), "{refusal}");
        let another = site.volume().await;
        member.post("/attachments", json!({ "attachment": { "volume_uuid": another, "connector": c } })).await.fault(400);
        assert_eq!(site.status(&another).await.0, "available");
    }
    assert_eq!((site.status(&volume).await.0.as_str(), site.array.count("connect")), ("reserved", 0));
    connect(&member, path.rsplit('/').next().unwrap(), "c1").await.expect(200);
}
