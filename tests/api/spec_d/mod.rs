//! Specification D, row by row: multi-attach. The rules of single attachments are in `attachments`.

mod order;
mod sharing;

use serde_json::{Value, json};
use support::{Client, Persona};

use crate::{
    site::{Site, attach, complete, connect, connector, create, detach, reserve, uuid},
    volume_actions::act,
};

/// The compute service acting for `client`: its own token comes along.
pub async fn nova(site: &Site, client: &Client) -> Client {
    client.with_header("x-service-token", site.block(Persona::Service).await.token())
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
async fn d2_whether_several_servers_may_share_what_they_boot_from_is_policy() {
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
async fn d1_a_retype_to_such_a_type_makes_a_volume_multiattach_and_nothing_else_does() {
    let site = Site::start().await;
    let member = site.member().await;
    let name = site.multiattach_type().await;
    let id = site.volume().await;
    for bad in [json!({ "multiattach": true }), json!({ "multiattach": "True" })] {
        let mut body = json!({ "size": 1 });
        body.as_object_mut().unwrap().extend(bad.as_object().unwrap().clone());
        assert_eq!(member.at("3.53").post("/volumes", json!({ "volume": body })).await.status, 400);
    }
    act(&member, &id, "os-retype", json!({ "new_type": name })).await.expect(202);
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["multiattach"] == true).await;
    attach(&member, &id, "c1").await;
    attach(&member, &id, "c2").await;
    assert_eq!(site.array.hosts_of(&id), ["c1", "c2"]);
}

#[tokio::test]
async fn d2_a_retype_to_multiattach_is_switched_off_as_a_create_is() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "\"volume:multiattach\": \"role:admin\"\n").unwrap();
    let path = file.path().to_owned();
    let site = Site::start_with(move |c| c.policy.file = path).await;
    let name = site.multiattach_type().await;
    let id = site.volume().await;
    let text = "Policy doesn't allow volume:multiattach to be performed.";
    assert_eq!(act(&site.member().await, &id, "os-retype", json!({ "new_type": name })).await.fault(403), text);
    act(&site.operator().await, &id, "os-retype", json!({ "new_type": name })).await.expect(202);
}

#[tokio::test]
async fn d2_the_older_actions_ask_the_same_policy_at_a_second_attachment() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "\"volume:multiattach_bootable_volume\": \"role:admin\"\n").unwrap();
    let path = file.path().to_owned();
    let site = Site::start_with(move |c| c.policy.file = path).await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    act(&member, &volume, "os-set_bootable", json!({ "bootable": true })).await.expect(200);
    attach(&member, &volume, "c1").await;
    for (action, members) in [
        ("os-reserve", json!({})),
        ("os-initialize_connection", json!({ "connector": connector("c2") })),
        ("os-attach", json!({ "host_name": "c2", "mountpoint": "/dev/vdc" })),
    ] {
        let text = "Policy doesn't allow volume:multiattach_bootable_volume to be performed.";
        assert_eq!(act(&member, &volume, action, members).await.fault(403), text, "{action}");
    }
    assert_eq!((site.array.hosts_of(&volume), site.status(&volume).await.0), (vec!["c1".to_owned()], "in-use".into()));
}

#[tokio::test]
async fn d3_a_disabled_back_end_does_not_count_and_no_driver_is_asked() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let name = site.multiattach_type().await;
    // `a` does not report it; `b`, which does, is disabled
    site.array.report(|r| r.features.multiattach = false);
    site.serve("stowage@a", &site.array).await;
    site.serve("stowage@b", &crate::array::Array::new(&["p1"])).await;
    let ask = json!({ "volume": { "size": 1, "volume_type": name } });
    let body = json!({ "host": "stowage@b", "binary": "cinder-volume" });
    operator.put("/os-services/disable", body.clone()).await.expect(200);
    assert!(member.post("/volumes", ask.clone()).await.fault(400).contains("multi-attach"));
    assert_eq!((site.array.count("create"), site.used(&member, "volumes").await), (0, 0));
    operator.put("/os-services/enable", body).await.expect(200);
    let id = member.post("/volumes", ask).await.expect(202)["volume"]["id"].as_str().unwrap().to_owned();
    member.volume_until(&id, "available").await;
    assert_eq!(site.app().store.volume(&id).await.unwrap().unwrap().backend(), Some("stowage@b"), "placed where it is reported");
}

#[tokio::test]
async fn d6_a_retype_that_changes_multiattach_needs_an_available_volume_in_either_direction_and_is_refused_at_once() {
    let site = Site::start().await;
    let member = site.member().await;
    let name = site.multiattach_type().await;
    let (plain, multi) = (site.volume().await, site.volume_with(json!({ "volume_type": name })).await);
    for (volume, to) in [(&plain, name.as_str()), (&multi, "__DEFAULT__")] {
        attach(&member, volume, "c1").await;
        let text = act(&member, volume, "os-retype", json!({ "new_type": to })).await.fault(400);
        assert!(text.contains("only allowed on available volumes"), "{text}");
        assert_eq!(site.status(volume).await, ("in-use".into(), "attached".into()));
    }
    assert_eq!(site.array.count("retype"), 0);
}

#[tokio::test]
async fn d6_the_flag_changes_when_the_retype_commits_and_not_before() {
    let site = Site::start().await;
    let member = site.member().await;
    let name = site.multiattach_type().await;
    let id = site.volume().await;
    let path = format!("/volumes/{id}");
    site.array.hold("retype");
    act(&member, &id, "os-retype", json!({ "new_type": name })).await.expect(202);
    site.until("the driver to be called", || async { site.array.count("retype") == 1 }).await;
    let v = member.get(&path).await.expect(200)["volume"].clone();
    assert_eq!((&v["status"], &v["multiattach"]), (&json!("retyping"), &json!(false)));
    site.array.release("retype");
    let v = member.volume_until(&id, "available").await;
    assert_eq!((&v["volume_type"], &v["multiattach"]), (&json!(name), &json!(true)));
}

#[tokio::test]
async fn d7_a_force_detach_takes_one_attachment_and_leaves_the_others() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let volume = site.multiattach_volume().await;
    let (one, two, three) =
        (attach(&member, &volume, "c1").await, attach(&member, &volume, "c2").await, attach(&member, &volume, "c3").await);
    act(&operator, &volume, "os-force_detach", json!({ "attachment_id": two, "connector": null })).await.expect(202);
    assert_eq!((site.array.hosts_of(&volume), site.status(&volume).await.0), (vec!["c1".to_owned(), "c3".to_owned()], "in-use".into()));
    for left in [&one, &three] {
        assert_eq!(member.at("3.27").get(&format!("/attachments/{left}")).await.expect(200)["attachment"]["status"], "attached");
    }
    // which one, it must say
    assert_eq!(act(&operator, &volume, "os-force_detach", json!({ "connector": null })).await.status, 409);
    let nova = nova(&site, &operator).await;
    let text = act(&nova, &volume, "os-force_detach", json!({ "connector": null })).await.fault(400);
    assert!(text.starts_with("Error force detaching volume - InvalidVolume:"), "{text}");
    let text = act(&operator, &volume, "os-force_detach", json!({ "attachment_id": uuid() })).await.fault(400);
    assert!(text.starts_with("Error force detaching volume - VolumeAttachmentNotFound:"), "{text}");
    assert_eq!(act(&member, &volume, "os-force_detach", json!({ "attachment_id": one })).await.status, 403);
    assert_eq!(site.array.hosts_of(&volume), ["c1", "c3"]);
}

#[tokio::test]
async fn d7_a_force_detach_ends_an_error_and_lets_go_whoever_is_still_connected() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let volume = site.volume().await;
    let id = attach(&member, &volume, "c1").await;
    act(&operator, &volume, "os-reset_status", json!({ "status": "error" })).await.expect(202);
    act(&operator, &volume, "os-force_detach", json!({ "attachment_id": id, "connector": null })).await.expect(202);
    assert_eq!(site.status(&volume).await, ("available".into(), "detached".into()));
    // no connector and nobody else: all of them
    assert_eq!(site.array.ends("disconnect"), ["* *"]);
}

/// Every way to take away what a server uses, as (what it is called, whether an operator is needed).
const WAYS: [(&str, bool); 4] = [("delete", false), ("os-detach", false), ("os-terminate_connection", false), ("os-force_detach", true)];

async fn take(client: &Client, way: &str, volume: &str, attachment: &str) -> support::Answer {
    match way {
        "delete" => detach(client, attachment).await,
        "os-terminate_connection" => act(client, volume, way, json!({ "connector": connector("c1") })).await,
        _ => act(client, volume, way, json!({ "attachment_id": attachment })).await,
    }
}

#[tokio::test]
async fn d7_what_a_server_uses_goes_in_no_way_without_a_service_token_and_in_every_way_with_one() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    for (way, needs_operator) in WAYS {
        let volume = site.volume().await;
        let instance = uuid();
        let id = reserve(&member, &volume, Some(&instance)).await;
        connect(&member, &id, "c1").await.expect(200);
        complete(&member, &id).await.expect(204);
        let expected = format!("ConflictNovaUsingAttachment: Detach volume from instance {instance} using the Compute API");
        let asker = if needs_operator { &operator } else { &member };
        assert_eq!(take(asker, way, &volume, &id).await.fault(409), expected, "{way}");
        assert_eq!(take(&operator, way, &volume, &id).await.fault(409), expected, "{way} as an operator");
        // a second token without the role `service` is none
        let pretender = asker.with_header("x-service-token", site.block(Persona::SecondMember).await.token());
        assert_eq!(take(&pretender, way, &volume, &id).await.fault(409), expected, "{way} with a user's token");
        assert_eq!((site.array.hosts_of(&volume), site.status(&volume).await.0), (vec!["c1".to_owned()], "in-use".into()), "{way}");
        // and one that is no token at all is refused
        assert_eq!(take(&asker.with_header("x-service-token", "stale"), way, &volume, &id).await.status, 401, "{way}");
        let answer = take(&nova(&site, asker).await, way, &volume, &id).await;
        assert!(answer.status.is_success(), "{way}: {answer:?}");
        assert!(site.array.hosts_of(&volume).is_empty(), "{way}");
    }
}

#[tokio::test]
async fn d7_what_no_server_uses_is_its_owners_in_every_way() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    for (way, needs_operator) in WAYS {
        let volume = site.volume().await;
        let id = attach(&member, &volume, "c1").await;
        let stranger = site.block(Persona::Stranger).await;
        assert_eq!(take(&stranger, way, &volume, &id).await.status, 404, "{way}");
        let answer = take(if needs_operator { &operator } else { &member }, way, &volume, &id).await;
        assert!(answer.status.is_success(), "{way}: {answer:?}");
        assert!(site.array.hosts_of(&volume).is_empty(), "{way}");
    }
}

#[tokio::test]
async fn d7_a_servers_reservation_is_nobodys_data_yet() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    for (way, needs_operator) in WAYS.into_iter().filter(|(way, _)| *way != "os-terminate_connection") {
        let volume = site.volume().await;
        let id = reserve(&member, &volume, Some(&uuid())).await;
        let answer = take(if needs_operator { &operator } else { &member }, way, &volume, &id).await;
        assert!(answer.status.is_success(), "{way}: {answer:?}");
        assert_eq!(site.status(&volume).await.0, "available", "{way}");
    }
    assert_eq!(site.array.count("connect"), 0);
}

#[tokio::test]
async fn d8_the_older_detaches_disconnect_for_the_last_attachment_on_a_host_only() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let (one, two) = (attach(&member, &volume, "c1").await, attach(&member, &volume, "c1").await);
    let nova = nova(&site, &member).await;
    // both live on the connection: it is not one attachment's to end
    act(&nova, &volume, "os-terminate_connection", json!({ "connector": connector("c1") })).await.expect(202);
    act(&nova, &volume, "os-detach", json!({ "attachment_id": one })).await.expect(202);
    assert_eq!((site.array.count("disconnect"), site.array.hosts_of(&volume)), (0, vec!["c1".to_owned()]));
    act(&nova, &volume, "os-terminate_connection", json!({ "connector": connector("c1") })).await.expect(202);
    act(&nova, &volume, "os-detach", json!({ "attachment_id": two })).await.expect(202);
    assert_eq!((site.array.count("disconnect"), site.status(&volume).await.0), (1, "available".into()));
    assert!(site.array.hosts_of(&volume).is_empty());
}

#[tokio::test]
async fn d9_show_and_the_detailed_list_have_every_attachment_whichever_api_made_it() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let new = attach(&member, &volume, "c1").await;
    let server = uuid();
    act(&member, &volume, "os-attach", json!({ "instance_uuid": server, "mountpoint": "/dev/vdc" })).await.expect(202);
    act(&member, &volume, "os-attach", json!({ "host_name": "c3", "mountpoint": "/dev/vdd" })).await.expect(202);
    for shown in [
        member.get(&format!("/volumes/{volume}")).await.expect(200)["volume"].clone(),
        member.get("/volumes/detail").await.expect(200)["volumes"][0].clone(),
    ] {
        let attachments = shown["attachments"].as_array().unwrap();
        let devices: Vec<&Value> = attachments.iter().map(|a| &a["device"]).collect();
        assert_eq!(devices, ["/dev/vdb", "/dev/vdc", "/dev/vdd"]);
        assert_eq!((&attachments[0]["attachment_id"], &attachments[1]["server_id"]), (&json!(new), &json!(server)));
    }
    let of_server = member.at("3.27").get(&format!("/attachments?instance_id={server}")).await.expect(200);
    assert_eq!(of_server["attachments"].as_array().unwrap().len(), 1);
    assert_eq!(site.operator().await.get(&format!("/volumes/{volume}")).await.expect(200)["volume"]["attachments"][2]["host_name"], "c3");
}

/// Every way to give what a server uses to another initiator of its own host.
const MOVES: [&str; 2] = ["update", "os-initialize_connection"];

async fn move_to(client: &Client, way: &str, volume: &str, attachment: &str, connector: &Value) -> support::Answer {
    match way {
        "update" => {
            let body = json!({ "attachment": { "connector": connector } });
            client.at("3.44").put(&format!("/attachments/{attachment}"), body).await
        }
        _ => act(client, volume, way, json!({ "connector": connector })).await,
    }
}

#[tokio::test]
async fn d7_what_a_server_uses_is_not_connected_elsewhere_without_a_service_token_and_is_with_one() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    for way in MOVES {
        let volume = site.volume().await;
        let instance = uuid();
        let id = reserve(&member, &volume, Some(&instance)).await;
        connect(&member, &id, "c1").await.expect(200);
        complete(&member, &id).await.expect(204);
        let calls = (site.array.count("connect"), site.array.count("disconnect"));
        let mut theirs = connector("c1");
        theirs["initiator"] = json!("iqn.theirs");
        let expected = format!("ConflictNovaUsingAttachment: Detach volume from instance {instance} using the Compute API");
        let pretender = member.with_header("x-service-token", site.block(Persona::SecondMember).await.token());
        for asker in [&member, &operator, &pretender] {
            assert_eq!(move_to(asker, way, &volume, &id, &theirs).await.fault(409), expected, "{way}");
        }
        assert_eq!((site.array.count("connect"), site.array.count("disconnect")), calls, "{way}: nothing was asked of the array");
        // where it is connected it may be connected again
        move_to(&member, way, &volume, &id, &connector("c1")).await.expect(200);
        assert_eq!(site.array.count("disconnect"), calls.1, "{way}");
        move_to(&nova(&site, &member).await, way, &volume, &id, &theirs).await.expect(200);
        assert_eq!(site.array.ends("connect").last().unwrap(), "c1 iqn.theirs", "{way}");
        assert_eq!(site.array.hosts_of(&volume), ["c1"], "{way}");
    }
}

#[tokio::test]
async fn d7_what_no_server_uses_is_connected_elsewhere_by_its_owner() {
    let site = Site::start().await;
    let member = site.member().await;
    for way in MOVES {
        let volume = site.volume().await;
        let id = attach(&member, &volume, "c1").await;
        let mut other = connector("c1");
        other["initiator"] = json!("iqn.other");
        move_to(&member, way, &volume, &id, &other).await.expect(200);
        assert_eq!(site.array.ends("connect").last().unwrap(), "c1 iqn.other", "{way}");
    }
}
