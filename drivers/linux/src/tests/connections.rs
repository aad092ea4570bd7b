use stowage_driver_sdk::{prelude::*, serde_json::json};

use super::{A, Nodes, connector, host, open, open_as, volume, with_spec};

fn iscsi(connection: Connection) -> IscsiConnection {
    let ConnectionTarget::Iscsi(iscsi) = connection.target else { panic!("{connection:?}") };
    iscsi
}

#[test]
fn a_connector_without_an_initiator_is_refused_without_asking_a_node() {
    let host = host(&Nodes::new());
    let (driver, cx) = open(&host);
    for initiator in [None, Some(String::new())] {
        let refused = driver.validate_connector(&cx, &Connector { initiator, ..connector("h") }).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Invalid);
        assert_eq!(refused.user_message.as_deref(), Some("The connector lacks initiator."));
    }
    assert_eq!(driver.validate_connector(&cx, &connector("h")), Ok(()));
    assert!(host.requests().is_empty());
}

#[test]
fn only_iscsi_names_pass_as_initiators() {
    let host = host(&Nodes::new());
    let (driver, cx) = open(&host);
    let long = format!("iqn.{}", "x".repeat(220));
    for bad in ["iqn.", "h", "iqn.1994-05.a/../../b", "iqn.1994-05.a?x", "iqn.a b", "iqn.\n", "iqn.ä", "nqn.2014-08.a", &long] {
        let wants = Connector { initiator: Some(bad.into()), ..connector("h") };
        assert_eq!(driver.validate_connector(&cx, &wants).unwrap_err().kind, ErrorKind::Invalid, "{bad}");
        assert_eq!(driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &wants).unwrap_err().kind, ErrorKind::Invalid);
        let never = driver.disconnect(&cx, &volume("v", 1), &DisconnectTarget::Connector(wants));
        assert_eq!(never, Ok(()), "it never was connected: {bad}");
    }
    assert!(host.requests().is_empty());
    for good in ["iqn.1994-05.com.example:a_b-C", "eui.0123456789abcdef", "naa.52004567ba64678d"] {
        assert_eq!(driver.validate_connector(&cx, &Connector { initiator: Some(good.into()), ..connector("h") }), Ok(()));
    }
}

#[test]
fn a_connection_says_how_to_log_in() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    let connection = iscsi(driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &connector("h")).unwrap());
    assert_eq!(connection.targets, [IscsiTarget { portal: "192.0.2.7:3260".into(), iqn: "iqn.2026-01.test:vol.v".into(), lun: 1 }]);
    assert_eq!(connection.auth, Some(Chap { user: "user1".into(), password: "secret-of-the-node".into() }));
    assert!(connection.discard && connection.discovery_auth.is_none());
    let told = nodes.at(A).attachments.values().next().unwrap().clone();
    assert_eq!((&told["mode"], &told["host"], &told["ip"]), (&json!("rw"), &json!("h"), &json!("192.0.2.17")));
}

#[test]
fn multipath_gets_every_portal_with_the_preferred_one_first() {
    let (driver, cx) = open(&host(&Nodes::new()));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    let wants = Connector { multipath: true, ..connector("h") };
    let connection = iscsi(driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &wants).unwrap());
    let portals: Vec<&str> = connection.targets.iter().map(|t| t.portal.as_str()).collect();
    assert_eq!(portals, ["192.0.2.7:3260", "[2001:db8::7]:3260"]);
    assert!(connection.targets.iter().all(|t| t.iqn == connection.targets[0].iqn && t.lun == connection.targets[0].lun));
}

#[test]
fn a_node_with_too_many_portals_is_reached_by_the_first_ones() {
    let nodes = Nodes::new();
    let portals: Vec<String> = (1..=200).map(|n| format!("192.0.2.{n}:3260")).collect();
    let answer = json!({
        "volume": "v", "initiator": "iqn.1994-05.test:h",
        "connection": {
            "protocol": "iscsi", "portals": portals, "iqn": "iqn.x", "lun": 1,
            "auth": { "method": "CHAP", "username": "u", "password": "p" },
        },
    });
    nodes.at(A).answers("PUT", 200, &answer.to_string());
    let (driver, cx) = open(&host(&nodes));
    let wants = Connector { multipath: true, ..connector("h") };
    let connection = iscsi(driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &wants).unwrap());
    assert_eq!((connection.targets.len(), connection.targets[0].portal.as_str()), (64, "192.0.2.1:3260"));
}

#[test]
fn a_repeat_and_a_second_attachment_of_the_host_get_the_same_answer() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    let connect = |attachment| driver.connect(&cx, &volume("v", 1), attachment, AccessMode::ReadWrite, &connector("h")).unwrap();
    let first = connect("one");
    assert_eq!(connect("one"), first);
    assert_eq!(connect("two"), first);
    assert_eq!(nodes.at(A).attachments.len(), 1);
}

#[test]
fn a_read_only_attachment_is_asked_for_as_such_and_a_change_of_mode_is_applied() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    for (mode, word) in [(AccessMode::ReadOnly, "ro"), (AccessMode::ReadWrite, "rw")] {
        driver.connect(&cx, &volume("v", 1), "at", mode, &connector("h")).unwrap();
        assert_eq!(nodes.at(A).attachments.values().next().unwrap()["mode"], word);
    }
}

#[test]
fn a_change_of_mode_keeps_the_connection_that_other_attachments_live_on() {
    let (driver, cx) = open(&host(&Nodes::new()));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    let connect = |attachment: &str, mode| driver.connect(&cx, &volume("v", 1), attachment, mode, &connector("h")).unwrap();
    let first = connect("reader", AccessMode::ReadOnly);
    assert_eq!(connect("writer", AccessMode::ReadWrite), first);
    assert_eq!(connect("reader", AccessMode::ReadOnly), first);
}

#[test]
fn two_initiators_of_one_host_are_two_connections() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    let by = |name: &str| Connector { host: "h".into(), ..connector(name) };
    for name in ["one", "other"] {
        driver.connect(&cx, &volume("v", 1), name, AccessMode::ReadWrite, &by(name)).unwrap();
    }
    driver.disconnect(&cx, &volume("v", 1), &DisconnectTarget::Connector(by("one"))).unwrap();
    let left: Vec<String> = nodes.at(A).attachments.keys().map(|(_, initiator)| initiator.clone()).collect();
    assert_eq!(left, ["iqn.1994-05.test:other"]);
}

#[test]
fn in_the_shared_layout_volumes_of_a_host_are_on_its_target() {
    let (driver, cx) = open(&host(&Nodes::new()).option("layout", "target-per-initiator"));
    let connect = |id: &str, name: &str| {
        driver.create_volume(&cx, &volume(id, 1)).unwrap();
        iscsi(driver.connect(&cx, &volume(id, 1), "at", AccessMode::ReadWrite, &connector(name)).unwrap()).targets[0].iqn.clone()
    };
    assert_eq!(connect("v", "h"), connect("w", "h"));
    assert_ne!(connect("v", "h"), connect("v", "other"));
}

#[test]
fn what_the_node_would_refuse_about_a_host_is_left_out() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    let odd = Connector { host: format!("h\u{e4}\n{}", "x".repeat(400)), ip: Some("nonsense".into()), ..connector("h") };
    driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &odd).unwrap();
    let told = nodes.at(A).attachments.values().next().unwrap().clone();
    assert_eq!(told["host"].as_str().map(str::len), Some(255));
    assert!(told["ip"].is_null());
}

#[test]
fn connecting_what_is_not_there_is_not_found() {
    let (driver, cx) = open(&host(&Nodes::new()));
    let refused = driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &connector("h")).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::NotFound);
    assert_eq!(driver.ensure_export(&cx, &volume("v", 1)).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn a_disconnect_may_be_repeated_and_leaves_other_hosts_connected() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    for name in ["h", "other"] {
        driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &connector(name)).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(driver.disconnect(&cx, &volume("v", 1), &DisconnectTarget::Connector(connector("h"))), Ok(()));
    }
    let left: Vec<String> = nodes.at(A).attachments.keys().map(|(_, initiator)| initiator.clone()).collect();
    assert_eq!(left, ["iqn.1994-05.test:other"]);
}

#[test]
fn a_disconnect_of_all_may_be_repeated() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    for name in ["h", "other"] {
        driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &connector(name)).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(driver.disconnect(&cx, &volume("v", 1), &DisconnectTarget::All), Ok(()));
    }
    assert!(nodes.at(A).attachments.is_empty());
}

#[test]
fn disconnecting_what_never_was_connected_succeeds() {
    let (driver, cx) = open(&host(&Nodes::new()));
    for target in [
        DisconnectTarget::Connector(connector("h")),
        DisconnectTarget::All,
        DisconnectTarget::Connector(Connector { initiator: None, ..connector("h") }),
    ] {
        assert_eq!(driver.disconnect(&cx, &volume("v", 1), &target), Ok(()), "{target:?}");
    }
}

#[test]
fn a_connector_without_an_initiator_is_disconnected_by_its_hosts_name() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    for name in ["h", "other"] {
        driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &connector(name)).unwrap();
    }
    let bare = DisconnectTarget::Connector(Connector { initiator: None, ..connector("h") });
    assert_eq!(driver.disconnect(&cx, &volume("v", 1), &bare), Ok(()));
    let left: Vec<String> = nodes.at(A).attachments.keys().map(|(_, initiator)| initiator.clone()).collect();
    assert_eq!(left, ["iqn.1994-05.test:other"]);
}

#[test]
fn a_disconnect_of_an_older_generation_is_refused_and_access_stays() {
    let nodes = Nodes::new();
    let host = host(&nodes);
    let (driver, newer) = open_as(&host, 9);
    driver.create_volume(&newer, &volume("v", 1)).unwrap();
    driver.connect(&newer, &volume("v", 1), "at", AccessMode::ReadWrite, &connector("h")).unwrap();
    let (driver, older) = open_as(&host, 8);
    let refused = driver.disconnect(&older, &volume("v", 1), &DisconnectTarget::Connector(connector("h"))).unwrap_err();
    assert_eq!((refused.kind, nodes.at(A).attachments.len()), (ErrorKind::Busy, 1));
}

#[test]
fn ensure_export_asks_the_node_to_compare_and_repair() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &with_spec(volume("v", 1), "linux:layout", "target-per-volume")).unwrap();
    assert_eq!(driver.ensure_export(&cx, &volume("v", 1)), Ok(()));
    assert_eq!(nodes.at(A).asked.last().map(String::as_str), Some("POST /v1/volumes/v/ensure"));
}

#[test]
fn no_secret_of_the_node_is_logged() {
    let host = host(&Nodes::new());
    let (driver, cx) = open(&host);
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &connector("h")).unwrap();
    assert!(host.log().iter().all(|(_, text)| !text.contains("secret-of-the-node")));
}
