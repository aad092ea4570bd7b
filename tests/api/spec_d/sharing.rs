//! D8: which attachments of a volume share a connection, and in which mode it is. It goes by the initiator; the rule for each
//! protocol is a table beside the code, and here is what a client sees of it.

use serde_json::{Value, json};
use stowage::driver::ErrorKind;
use support::{Answer, Client};

use super::nova;
use crate::{
    array::Fault,
    site::{Site, complete, connector, detach, reserve},
    volume_actions::act,
};

/// A host by one of its initiators.
fn by(host: &str, initiator: &str) -> Value {
    let mut connector = connector(host);
    connector["initiator"] = json!(initiator);
    connector
}

async fn connect_by(client: &Client, attachment: &str, connector: &Value) -> Answer {
    client.at("3.44").put(&format!("/attachments/{attachment}"), json!({ "attachment": { "connector": connector } })).await
}

/// Reserved, connected and completed; the attachment's id.
async fn attach_by(client: &Client, volume: &str, connector: &Value) -> String {
    let id = reserve(client, volume, None).await;
    connect_by(client, &id, connector).await.expect(200);
    complete(client, &id).await.expect(204);
    id
}

async fn attach_in(client: &Client, volume: &str, mode: &str, connector: &Value) -> Answer {
    let body = json!({ "attachment": { "volume_uuid": volume, "connector": connector, "mode": mode } });
    client.at("3.54").post("/attachments", body).await
}

async fn attached_in(client: &Client, volume: &str, mode: &str, connector: &Value) -> String {
    let made = attach_in(client, volume, mode, connector).await.expect(200)["attachment"].clone();
    assert_eq!((&made["attach_mode"], &made["connection_info"]["access_mode"]), (&json!(mode), &json!(mode)));
    made["id"].as_str().unwrap().to_owned()
}

fn exports(of: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    of.iter().map(|(initiator, mode)| ((*initiator).to_owned(), *mode)).collect()
}

#[tokio::test]
async fn d8_two_initiators_of_one_host_have_a_connection_each_and_each_ends_with_its_own_attachment() {
    let site = Site::start().await;
    let member = site.member().await;
    for first_to_go in [0, 1] {
        let volume = site.volume_with(json!({ "volume_type": multi(&site).await })).await;
        let ids = [attach_by(&member, &volume, &by("c1", "iqn.a")).await, attach_by(&member, &volume, &by("c1", "iqn.b")).await];
        let both = exports(&[("iqn.a", "rw"), ("iqn.b", "rw")]);
        assert_eq!(site.array.initiators_of(&volume), both);
        detach(&member, &ids[first_to_go]).await.expect(200);
        assert_eq!(site.array.initiators_of(&volume), [both[1 - first_to_go].clone()]);
        detach(&member, &ids[1 - first_to_go]).await.expect(200);
        assert_eq!(site.array.initiators_of(&volume), exports(&[]));
    }
}

#[tokio::test]
async fn d8_one_initiator_has_one_connection_whatever_its_host_is_called() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let (short, long) = (by("c1", "iqn.a"), by("c1.example.org", "iqn.a"));
    let (one, two) = (attach_by(&member, &volume, &short).await, attach_by(&member, &volume, &long).await);
    detach(&member, &one).await.expect(200);
    assert_eq!((site.array.count("disconnect"), site.array.initiators_of(&volume)), (0, exports(&[("iqn.a", "rw")])));
    detach(&member, &two).await.expect(200);
    assert_eq!((site.array.count("disconnect"), site.array.initiators_of(&volume)), (1, exports(&[])));
}

#[tokio::test]
async fn d8_the_older_actions_tell_two_initiators_of_one_host_apart() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    for initiator in ["iqn.a", "iqn.b"] {
        act(&member, &volume, "os-initialize_connection", json!({ "connector": by("c1", initiator) })).await.expect(200);
    }
    assert_eq!(site.array.initiators_of(&volume), exports(&[("iqn.a", "rw"), ("iqn.b", "rw")]));
    // said again it is what it was
    act(&member, &volume, "os-initialize_connection", json!({ "connector": by("c1", "iqn.a") })).await.expect(200);
    assert_eq!(site.app().store.attachments_of(&volume).await.unwrap().len(), 2);
    let nova = nova(&site, &member).await;
    act(&nova, &volume, "os-terminate_connection", json!({ "connector": by("c1", "iqn.a") })).await.expect(202);
    assert_eq!(site.array.initiators_of(&volume), exports(&[("iqn.b", "rw")]));
    // what has gone is not another's
    act(&nova, &volume, "os-terminate_connection", json!({ "connector": by("c1", "iqn.a") })).await.expect(202);
    assert_eq!(site.array.initiators_of(&volume), exports(&[("iqn.b", "rw")]));
    act(&nova, &volume, "os-terminate_connection", json!({ "connector": by("c1", "iqn.b") })).await.expect(202);
    assert_eq!((site.array.initiators_of(&volume), site.status(&volume).await.0), (exports(&[]), "available".into()));
}

#[tokio::test]
async fn d8_a_move_from_a_shared_connection_leaves_it_to_the_other() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let moves = attach_by(&member, &volume, &by("c1", "iqn.a")).await;
    let stays = attach_by(&member, &volume, &by("c1", "iqn.a")).await;
    connect_by(&member, &moves, &by("c1", "iqn.b")).await.expect(200);
    assert_eq!(site.array.initiators_of(&volume), exports(&[("iqn.a", "rw"), ("iqn.b", "rw")]));
    detach(&member, &stays).await.expect(200);
    assert_eq!(site.array.initiators_of(&volume), exports(&[("iqn.b", "rw")]));
}

#[tokio::test]
async fn d8_a_force_detach_that_names_the_hosts_other_initiator_ends_only_what_is_free() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let volume = site.multiattach_volume().await;
    let one = attach_by(&member, &volume, &by("c1", "iqn.a")).await;
    attach_by(&member, &volume, &by("c1", "iqn.b")).await;
    for named in [by("c1", "iqn.b"), json!({ "host": "c1" })] {
        let id = if named["initiator"].is_string() { one.clone() } else { attach_by(&member, &volume, &by("c1", "iqn.a")).await };
        act(&operator, &volume, "os-force_detach", json!({ "attachment_id": id, "connector": named })).await.expect(202);
        assert_eq!(site.array.initiators_of(&volume), exports(&[("iqn.b", "rw")]), "{named}");
    }
}

#[tokio::test]
async fn d4_a_connection_has_the_widest_mode_of_the_attachments_that_live_on_it() {
    let site = Site::start().await;
    let member = site.member().await;
    let at = by("c1", "iqn.a");
    let kind = multi(&site).await;
    // (the modes in the order of attaching, what the array has after each; which goes, what it has then)
    for (modes, after, goes, then) in [
        (["ro", "rw"], ["ro", "rw"], 1, "ro"),
        (["ro", "rw"], ["ro", "rw"], 0, "rw"),
        (["rw", "ro"], ["rw", "rw"], 0, "ro"),
        (["rw", "ro"], ["rw", "rw"], 1, "rw"),
        (["ro", "ro"], ["ro", "ro"], 0, "ro"),
        (["rw", "rw"], ["rw", "rw"], 0, "rw"),
    ] {
        let case = format!("{modes:?} without {goes}");
        let volume = site.volume_with(json!({ "volume_type": kind })).await;
        let mut ids = Vec::new();
        for (mode, has) in modes.into_iter().zip(after) {
            ids.push(attached_in(&member, &volume, mode, &at).await);
            assert_eq!(site.array.initiators_of(&volume), exports(&[("iqn.a", has)]), "{case}");
        }
        // another initiator has its own
        let beside = attached_in(&member, &volume, "ro", &by("c1", "iqn.b")).await;
        assert_eq!(site.array.initiators_of(&volume), exports(&[("iqn.a", after[1]), ("iqn.b", "ro")]), "{case}");
        detach(&member, &beside).await.expect(200);
        let calls = site.array.count("disconnect");
        detach(&member, &ids.remove(goes)).await.expect(200);
        assert_eq!(site.array.initiators_of(&volume), exports(&[("iqn.a", then)]), "{case}");
        assert_eq!(site.array.count("disconnect"), calls, "{case}");
        detach(&member, &ids[0]).await.expect(200);
        assert_eq!(site.array.initiators_of(&volume), exports(&[]), "{case}");
    }
}

#[tokio::test]
async fn d4_a_driver_that_cannot_narrow_a_connection_in_use_keeps_nobody_from_leaving_it() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let at = by("c1", "iqn.a");
    attached_in(&member, &volume, "ro", &at).await;
    let writer = attached_in(&member, &volume, "rw", &at).await;
    site.array.fault("connect", Fault::Refuse(ErrorKind::Unsupported));
    detach(&member, &writer).await.expect(200);
    assert_eq!(site.array.initiators_of(&volume), exports(&[("iqn.a", "rw")]));
}

#[tokio::test]
async fn d4_a_driver_that_cannot_widen_a_connection_in_use_refuses_the_second_and_leaves_the_first() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let at = by("c1", "iqn.a");
    let reader = attached_in(&member, &volume, "ro", &at).await;
    site.array.fault("connect", Fault::Refuse(ErrorKind::Unsupported));
    assert_eq!(attach_in(&member, &volume, "rw", &at).await.status, 500);
    assert_eq!((site.array.count("disconnect"), site.array.initiators_of(&volume)), (0, exports(&[("iqn.a", "ro")])));
    assert_eq!(member.at("3.27").get(&format!("/attachments/{reader}")).await.expect(200)["attachment"]["status"], "attaching");
}

#[tokio::test]
async fn d4_a_connect_that_may_have_widened_a_connection_and_failed_is_taken_back() {
    let site = Site::start().await;
    let member = site.member().await;
    let volume = site.multiattach_volume().await;
    let at = by("c1", "iqn.a");
    attached_in(&member, &volume, "ro", &at).await;
    // as often as it is repeated
    for _ in 0..3 {
        site.array.fault("connect", Fault::LoseAnswer(ErrorKind::Internal));
    }
    assert_eq!(attach_in(&member, &volume, "rw", &at).await.status, 500);
    assert_eq!((site.array.count("disconnect"), site.array.initiators_of(&volume)), (0, exports(&[("iqn.a", "ro")])));
}

/// The name of the type whose volumes are multi-attach, made once.
async fn multi(site: &Site) -> String {
    let types = site.operator().await.get("/types").await.expect(200);
    let made = types["volume_types"].as_array().unwrap().iter().any(|t| t["name"] == "multi");
    if made { "multi".to_owned() } else { site.multiattach_type().await }
}
