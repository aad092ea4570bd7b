use stowage_driver_sdk::{mock, prelude::*, serde_json::json};

use super::{A, B, Nodes, connector, host, open, open_as, volume, with_spec};

#[test]
fn a_create_makes_an_empty_volume_on_the_node_of_its_pool() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    assert_eq!(driver.create_volume(&cx, &mock::volume("v", 4, "b")), Ok(VolumeOutcome::made()));
    let made = nodes.at(B).volumes["v"].clone();
    assert_eq!((&made["size_gib"], &made["layout"], &made["source"]), (&json!(4), &json!("target-per-volume"), &json!(null)));
    assert!(nodes.at(A).asked.is_empty());
}

#[test]
fn a_repeated_create_finds_the_volume() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    let first = driver.create_volume(&cx, &volume("v", 4)).unwrap();
    assert_eq!(driver.create_volume(&cx, &volume("v", 4)).unwrap(), first);
    assert_eq!(nodes.at(A).volumes.len(), 1);
}

#[test]
fn an_id_that_is_something_else_already_is_busy() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 4)).unwrap();
    assert_eq!(driver.create_volume(&cx, &volume("v", 5)).unwrap_err().kind, ErrorKind::Busy);
}

#[test]
fn the_type_decides_the_layout() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes).option("layout_by_type", true));
    driver.create_volume(&cx, &with_spec(volume("v", 1), "linux:layout", "target-per-initiator")).unwrap();
    assert_eq!(nodes.at(A).volumes["v"]["layout"], "target-per-initiator");
}

#[test]
fn a_pool_that_is_not_configured_is_refused_before_anything_is_asked() {
    let host = host(&Nodes::new());
    let (driver, cx) = open(&host);
    let lost = mock::volume("v", 1, "gone");
    assert_eq!(driver.create_volume(&cx, &lost).unwrap_err().kind, ErrorKind::Unsupported);
    assert_eq!(driver.delete_volume(&cx, &lost).unwrap_err().kind, ErrorKind::Unsupported, "it may well be on that node");
    assert!(host.requests().is_empty());
}

#[test]
fn ids_that_would_leave_their_place_in_the_path_are_refused_before_anything_is_asked() {
    let host = host(&Nodes::new());
    let (driver, cx) = open(&host);
    for id in ["", ".", "..", "../import/x", "a/b", "a?b", "a#b", "a%2fb", "-a", "a b", "a\nb", "ä", &"x".repeat(65)] {
        assert_eq!(driver.create_volume(&cx, &volume(id, 1)).unwrap_err().kind, ErrorKind::Invalid, "{id:?}");
        assert_eq!(driver.delete_volume(&cx, &volume(id, 1)).unwrap_err().kind, ErrorKind::Invalid, "{id:?}");
    }
    assert!(host.requests().is_empty());
}

#[test]
fn a_delete_may_be_repeated() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    for _ in 0..2 {
        assert_eq!(driver.delete_volume(&cx, &volume("v", 1)), Ok(()));
    }
    assert!(nodes.at(A).volumes.is_empty());
}

#[test]
fn an_attached_volume_is_busy_and_stays() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &connector("h")).unwrap();
    let refused = driver.delete_volume(&cx, &volume("v", 1)).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Busy);
    assert!(refused.message.contains("pool `a`") && refused.message.contains("attached to iqn.1994-05.test:h"), "{}", refused.message);
    assert!(nodes.at(A).volumes.contains_key("v"));
}

#[test]
fn an_extend_may_be_repeated_and_never_shrinks() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    for size in [3, 3, 2] {
        assert_eq!(driver.extend_volume(&cx, &volume("v", 1), size), Ok(VolumeOutcome::made()), "{size}");
    }
    assert_eq!(nodes.at(A).volumes["v"]["size_gib"], 3);
}

#[test]
fn extending_what_is_not_there_is_not_found() {
    let (driver, cx) = open(&host(&Nodes::new()));
    assert_eq!(driver.extend_volume(&cx, &volume("v", 1), 2).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn a_call_of_an_older_generation_never_looks_like_a_success() {
    let nodes = Nodes::new();
    let host = host(&nodes);
    let (driver, newer) = open_as(&host, 9);
    driver.create_volume(&newer, &volume("v", 1)).unwrap();
    let (driver, older) = open_as(&host, 8);
    let refusals = [
        driver.create_volume(&older, &volume("v", 1)).map(drop).unwrap_err(),
        driver.extend_volume(&older, &volume("v", 1), 5).map(drop).unwrap_err(),
        driver.delete_volume(&older, &volume("v", 1)).unwrap_err(),
        driver.release_volume(&older, &volume("v", 1)).unwrap_err(),
        driver.ensure_export(&older, &volume("v", 1)).unwrap_err(),
    ];
    for refused in refusals {
        assert_eq!(refused.kind, ErrorKind::Busy, "{refused:?}");
        assert!(refused.message.contains("stale-generation") && refused.user_message.is_some(), "{refused:?}");
    }
    assert_eq!(nodes.at(A).volumes["v"]["size_gib"], 1);
}

#[test]
fn a_type_that_asks_for_quality_of_service_is_served_with_a_word_to_the_operator() {
    let host = host(&Nodes::new());
    let (driver, cx) = open(&host);
    driver.create_volume(&cx, &Volume { qos: vec![KeyValue::new("total_iops_sec", "100")], ..volume("v", 1) }).unwrap();
    assert!(host.log().iter().any(|(level, text)| *level == Level::Warn && text.contains("quality of service")));
}

#[test]
fn a_request_ends_before_its_call_does() {
    let host = host(&Nodes::new());
    let (driver, mut cx) = open(&host);
    cx.call.deadline_ms = 4_000;
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    assert_eq!(host.requests()[0].timeout_ms, Some(3_500));
}
