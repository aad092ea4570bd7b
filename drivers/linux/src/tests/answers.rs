//! Answers with status 200 that are not what was asked for: none of them is taken for a success.

use stowage_driver_sdk::{
    prelude::*,
    serde_json::{Value as Json, json},
};

use super::{A, Nodes, connector, host, open, snapshot, volume};

/// Runs a verb against a node that answers `what` with `body`.
fn run<T: std::fmt::Debug>(what: &str, body: &Json, verb: impl Fn(&crate::Linux, &Context) -> Result<T>) -> DriverError {
    let nodes = Nodes::new();
    nodes.at(A).answers(what, 200, &body.to_string());
    let (driver, cx) = open(&host(&nodes));
    verb(&driver, &cx).unwrap_err()
}

#[test]
fn a_volume_that_is_not_the_one_asked_for_is_refused() {
    let good = json!({ "id": "v", "size_gib": 4, "layout": "target-per-volume", "a member of tomorrow": {} });
    let mut bad = vec![json!(null), json!([]), json!("v"), json!({}), json!({ "volumes": [] })];
    for (member, value) in [
        ("id", json!("w")),
        ("id", json!(7)),
        ("size_gib", json!(3)),
        ("size_gib", json!("4")),
        ("size_gib", json!(-4)),
        ("size_gib", json!(4.5)),
        ("size_gib", json!(1e30)),
        ("layout", json!(null)),
    ] {
        let mut answer = good.clone();
        answer[member] = value;
        bad.push(answer);
        let mut without = good.clone();
        without.as_object_mut().unwrap().remove(member);
        bad.push(without);
    }
    for body in bad {
        assert_eq!(run("PUT", &body, |d, cx| d.create_volume(cx, &volume("v", 4))).kind, ErrorKind::Internal, "{body}");
        assert_eq!(run("PUT", &body, |d, cx| d.extend_volume(cx, &volume("v", 1), 4)).kind, ErrorKind::Internal, "{body}");
    }
    let nodes = Nodes::new();
    nodes.at(A).answers("PUT", 200, &good.to_string());
    let (driver, cx) = open(&host(&nodes));
    assert!(driver.create_volume(&cx, &volume("v", 4)).is_ok(), "what the driver does not know does not matter");
}

#[test]
fn a_volume_that_kept_its_layout_was_not_retyped() {
    let body = json!({ "id": "v", "size_gib": 1, "layout": "target-per-initiator" });
    let to = NewType { specs: Vec::new(), qos: Vec::new(), multiattach: false, pool: "a".into() };
    assert_eq!(run("PUT", &body, |d, cx| d.retype_volume(cx, &volume("v", 1), &to)).kind, ErrorKind::Internal);
}

#[test]
fn a_snapshot_of_something_else_is_refused() {
    for body in [json!({ "id": "t", "volume": "v" }), json!({ "id": "s", "volume": "w" }), json!({ "id": "s" }), json!({})] {
        let refused = run("PUT", &body, |d, cx| d.create_snapshot(cx, &snapshot("s", "v", 1), &volume("v", 1)));
        assert_eq!(refused.kind, ErrorKind::Internal, "{body}");
    }
}

#[test]
fn a_revert_that_shrank_the_volume_is_refused() {
    let body = json!({ "id": "v", "size_gib": 1, "layout": "target-per-volume" });
    let refused = run("POST", &body, |d, cx| d.revert_volume(cx, &volume("v", 2), &snapshot("s", "v", 2)));
    assert_eq!(refused.kind, ErrorKind::Internal);
}

#[test]
fn a_connection_that_nobody_could_use_is_refused() {
    let good = json!({
        "volume": "v", "initiator": "iqn.1994-05.test:h",
        "connection": {
            "protocol": "iscsi", "portals": ["192.0.2.7:3260"], "iqn": "iqn.x", "lun": 1, "discard": true,
            "auth": { "method": "CHAP", "username": "u", "password": "the password" },
        },
    });
    let connect = |d: &crate::Linux, cx: &Context| d.connect(cx, &volume("v", 1), "at", AccessMode::ReadWrite, &connector("h"));
    for (pointer, value) in [
        ("/volume", json!("w")),
        ("/initiator", json!("iqn.1994-05.test:other")),
        ("/connection", json!(null)),
        ("/connection/protocol", json!("nvme")),
        ("/connection/portals", json!([])),
        ("/connection/portals", json!("192.0.2.7:3260")),
        ("/connection/portals", json!(["192.0.2.7"])),
        ("/connection/portals", json!(["192.0.2.7:0"])),
        ("/connection/portals", json!(["192.0.2.7:66000"])),
        ("/connection/portals", json!([":3260"])),
        ("/connection/portals", json!(["2001:db8::7:3260"])),
        ("/connection/portals", json!(["[2001:db8::7:3260"])),
        ("/connection/portals", json!(["a b:3260"])),
        ("/connection/portals", json!(["192.0.2.7:3260", ""])),
        ("/connection/iqn", json!("")),
        ("/connection/lun", json!(-1)),
        ("/connection/lun", json!("1")),
        ("/connection/lun", json!(4_294_967_296_u64)),
        ("/connection/auth", json!(null)),
        ("/connection/auth/method", json!("none")),
        ("/connection/auth/username", json!("")),
        ("/connection/auth/password", json!("")),
        ("/connection/discard", json!("yes")),
    ] {
        let mut answer = good.clone();
        *answer.pointer_mut(pointer).unwrap() = value;
        let refused = run("PUT", &answer, connect);
        assert_eq!(refused.kind, ErrorKind::Internal, "{answer}");
        assert!(!refused.message.contains("the password"), "{}", refused.message);
    }
    let nodes = Nodes::new();
    nodes.at(A).answers("PUT", 200, &good.to_string());
    let (driver, cx) = open(&host(&nodes));
    assert!(connect(&driver, &cx).is_ok());
}

#[test]
fn files_that_are_not_files_are_refused() {
    let named = [KeyValue::new("source-name", "disk.raw"), KeyValue::new("pool", "a")];
    for body in [
        json!({}),
        json!({ "name": "other.raw", "size_gib": 1, "unsafe_because": null }),
        json!({ "name": "disk.raw", "size_gib": 0, "unsafe_because": null }),
        json!({ "name": "disk.raw", "size_gib": "1", "unsafe_because": null }),
    ] {
        assert_eq!(run("GET", &body, |d, cx| d.size_of(cx, &named)).kind, ErrorKind::Internal, "{body}");
    }
    let listed = |name: &str| json!({ "files": [{ "name": name, "size_gib": 1, "unsafe_because": null }], "next": null });
    let long = "x".repeat(256);
    for body in [
        json!({}),
        json!({ "files": {} }),
        json!({ "files": [{}] }),
        json!({ "files": [], "next": 7 }),
        json!({ "files": [], "next": long }),
        listed(""),
        listed("a\u{0}b"),
        listed(&long),
    ] {
        assert_eq!(run("GET", &body, |d, cx| d.list_manageable(cx, "a", None, 10)).kind, ErrorKind::Internal, "{body}");
    }
}

#[test]
fn a_list_of_attachments_with_odd_names_leads_nowhere_else() {
    let body = json!({ "attachments": [{ "initiator": "../../w", "host": "h" }] });
    let bare = DisconnectTarget::Connector(Connector { initiator: None, ..connector("h") });
    let refused = run("GET", &body, |d, cx| d.disconnect(cx, &volume("v", 1), &bare));
    assert_eq!(refused.kind, ErrorKind::Invalid);
}
