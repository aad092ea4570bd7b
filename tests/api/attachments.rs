//! `/attachments`: states, modes, who joins whose work, what a failure leaves, and the refusals. Multi-attach is in `spec_d`.

use http::Method;
use serde_json::{Value, json};
use stowage::driver::ErrorKind;
use support::Persona;

use crate::{
    array::Fault,
    site::{Site, attach, complete, connect, connector, create, detach, reserve, uuid},
    volume_actions::act,
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
    site.until("both to wait for the one job", || async { site.app().jobs.callers_waiting() == 2 }).await;
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
async fn one_that_could_not_be_deleted_between_two_connections_is_a_reservation() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    connect(&member, &id, "c1").await.expect(200);
    site.array.hold("connect");
    let put = tokio::spawn({
        let (member, id) = (member.clone(), id.clone());
        async move { connect(&member, &id, "c2").await }
    });
    site.until("the second connect to begin", || async { site.array.count("connect") == 2 }).await;
    site.array.fault("disconnect", Fault::Refuse(ErrorKind::Auth));
    let delete = tokio::spawn({
        let (member, id) = (member.clone(), id.clone());
        async move { detach(&member, &id).await }
    });
    let path = format!("/attachments/{id}");
    member.at("3.27").until(&path, |a| a.body()["attachment"]["status"] == "detaching").await;
    site.array.release("connect");
    assert_eq!(put.await.unwrap().status, 409);
    assert_eq!(delete.await.unwrap().status, 500);
    assert_eq!(member.at("3.27").get(&path).await.expect(200)["attachment"]["status"], "reserved");
    assert_eq!(site.status(&volume).await.0, "reserved");
    detach(&member, &id).await.expect(200);
    assert!(site.array.hosts_of(&volume).is_empty());
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

#[tokio::test]
async fn every_operation_exists_from_its_microversion_on_and_not_before() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    let (one, action) = (format!("/attachments/{id}"), format!("/attachments/{id}/action"));
    let another = json!({ "attachment": { "volume_uuid": site.volume().await, "instance_uuid": uuid() } });
    let connects = json!({ "attachment": { "connector": connector("c1") } });
    for (since, method, path, body, success) in [
        (27, Method::POST, "/attachments", Some(another), 200),
        (27, Method::GET, "/attachments", None, 200),
        (27, Method::GET, "/attachments/detail", None, 200),
        (27, Method::GET, one.as_str(), None, 200),
        (27, Method::PUT, one.as_str(), Some(connects), 200),
        (44, Method::POST, action.as_str(), Some(json!({ "os-complete": null })), 204),
        (27, Method::DELETE, one.as_str(), None, 200),
    ] {
        let before = member.at(&format!("3.{}", since - 1)).send(method.clone(), path, body.clone()).await;
        assert_eq!(before.status, 404, "{before:?}");
        member.at(&format!("3.{since}")).send(method, path, body).await.expect(success);
    }
}

#[tokio::test]
async fn mode_is_a_word_of_3_54_and_an_unset_one_reads_null() {
    let site = Site::start().await;
    let member = site.member().await;
    for (minor, mode, shown) in [(53, None, "null"), (54, None, "null"), (54, Some("ro"), "ro"), (71, Some("rw"), "rw")] {
        let volume = site.volume().await;
        let mut body = json!({ "volume_uuid": volume });
        if let Some(mode) = mode {
            body["mode"] = json!(mode);
        }
        let made = member.at(&format!("3.{minor}")).post("/attachments", json!({ "attachment": body })).await.expect(200);
        assert_eq!(made["attachment"]["attach_mode"], shown, "3.{minor} {mode:?}");
    }
    let early = json!({ "attachment": { "volume_uuid": site.volume().await, "mode": "ro" } });
    assert_eq!(member.at("3.53").post("/attachments", early).await.status, 400);
}

#[tokio::test]
async fn what_is_not_there_is_404_in_every_operation_and_what_is_wrong_400() {
    let site = Site::start().await;
    let member = site.member().await.at("3.54");
    let nothing = format!("/attachments/{}", uuid());
    let connects = json!({ "attachment": { "connector": connector("c1") } });
    let text = member.get(&nothing).await.fault(404);
    assert!(text.starts_with("Volume attachment could not be found with filter: attachment_id = "), "{text}");
    assert_eq!(member.put(&nothing, connects).await.status, 404);
    assert_eq!(member.delete(&nothing).await.status, 404);
    assert_eq!(member.post(&format!("{nothing}/action"), json!({ "os-complete": null })).await.status, 404);
    assert_eq!(member.post("/attachments", json!({ "attachment": { "volume_uuid": uuid() } })).await.status, 404);
    let volume = site.volume().await;
    for bad in [
        json!({}),
        json!({ "attachment": null }),
        json!({ "attachment": [] }),
        json!({ "attachment": {} }),
        json!({ "attachment": { "volume_uuid": "seven" } }),
        json!({ "attachment": { "volume_uuid": volume, "instance_uuid": "seven" } }),
        json!({ "attachment": { "volume_uuid": volume, "connector": "c1" } }),
        json!({ "attachment": { "volume_uuid": volume, "mode": "w" } }),
        json!({ "attachment": { "volume_uuid": volume, "color": "red" } }),
        json!({ "attachment": { "volume_uuid": volume }, "color": "red" }),
    ] {
        assert_eq!(member.post("/attachments", bad.clone()).await.status, 400, "{bad}");
    }
    let id = reserve(&member, &volume, None).await;
    assert_eq!(member.post(&format!("/attachments/{id}/action"), json!({ "os-incomplete": null })).await.status, 400);
    let mut with_mode = connector("c1");
    with_mode["mode"] = json!("w");
    assert_eq!(member.put(&format!("/attachments/{id}"), json!({ "attachment": { "connector": with_mode } })).await.status, 400);
    assert_eq!(site.array.count("connect"), 0);
}

#[tokio::test]
async fn an_attachment_of_a_volume_in_error_is_not_updated_but_goes() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    act(&operator, &volume, "os-reset_status", json!({ "status": "error" })).await.expect(202);
    let text = connect(&member, &id, "c1").await.fault(409);
    assert!(text.contains("can not be updated if the volume is in an error state"), "{text}");
    detach(&member, &id).await.expect(200);
    assert_eq!(site.array.count("connect"), 0);
}

#[tokio::test]
async fn readers_see_attachments_and_change_none() {
    let site = Site::start().await;
    let (member, reader) = (site.member().await, site.block(Persona::Reader).await.at("3.54"));
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    let path = format!("/attachments/{id}");
    for path in [&path, "/attachments", "/attachments/detail"] {
        reader.get(path).await.expect(200);
    }
    let other = site.volume().await;
    assert_eq!(reader.post("/attachments", json!({ "attachment": { "volume_uuid": other } })).await.status, 403);
    assert_eq!(connect(&reader, &id, "c1").await.status, 403);
    assert_eq!(complete(&reader, &id).await.status, 403);
    assert_eq!(detach(&reader, &id).await.status, 403);
    assert_eq!((site.status(&volume).await.0, site.status(&other).await.0), ("reserved".into(), "available".into()));
}

#[tokio::test]
async fn what_is_completed_while_its_connect_fails_stays_completed() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    site.array.hold("connect");
    site.array.fault("connect", Fault::Refuse(ErrorKind::Exhausted));
    let put = tokio::spawn({
        let (member, id) = (member.clone(), id.clone());
        async move { connect(&member, &id, "c1").await }
    });
    site.until("the connect to begin", || async { site.array.count("connect") == 1 }).await;
    complete(&member, &id).await.expect(204);
    site.array.release("connect");
    assert_eq!(put.await.unwrap().status, 500);
    assert_eq!(member.at("3.27").get(&format!("/attachments/{id}")).await.expect(200)["attachment"]["status"], "attached");
    assert_eq!(site.status(&volume).await.0, "in-use");
}

#[tokio::test]
async fn connects_that_leave_exports_are_refused_when_there_are_too_many() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = reserve(&member, &volume, None).await;
    // connected and the answer lost; neither this nor what earlier ones left can be taken back
    for earlier in 0..9 {
        for _ in 0..3 {
            site.array.fault("connect", Fault::LoseAnswer(ErrorKind::Internal));
        }
        // what is taken back before each of the runs, and the undo
        for _ in 0..3 * earlier + 1 {
            site.array.fault("disconnect", Fault::Refuse(ErrorKind::Internal));
        }
        assert_eq!(connect(&member, &id, &format!("c{earlier}")).await.status, 500);
    }
    let connects = site.array.count("connect");
    assert!(connect(&member, &id, "c9").await.fault(409).contains("delete the attachment"));
    assert_eq!((site.array.count("connect"), site.array.hosts_of(&volume).len()), (connects, 9));
    detach(&member, &id).await.expect(200);
    assert!(site.array.hosts_of(&volume).is_empty());
}

#[tokio::test]
async fn an_attachment_on_a_host_by_another_initiator_keeps_no_export_of_this_one() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let one = attach(&member, &volume, "c1").await;
    let two = reserve(&member, &volume, None).await;
    let mut other = connector("c1");
    other["initiator"] = json!("iqn.other");
    let body = json!({ "attachment": { "connector": other } });
    member.at("3.44").put(&format!("/attachments/{two}"), body).await.expect(200);
    detach(&member, &one).await.expect(200);
    assert_eq!(site.array.ends("disconnect"), [format!("c1 {}", connector("c1")["initiator"].as_str().unwrap())]);
    detach(&member, &two).await.expect(200);
    assert_eq!(site.array.ends("disconnect")[1..], ["c1 iqn.other".to_owned()]);
}
