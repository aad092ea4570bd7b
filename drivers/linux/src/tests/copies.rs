use stowage_driver_sdk::{mock, prelude::*, serde_json::json};

use super::{A, Nodes, connector, host, open, open_as, snapshot, volume, with_spec};

#[test]
fn a_clone_may_be_larger_and_may_be_repeated() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    for _ in 0..2 {
        assert_eq!(driver.clone_volume(&cx, &volume("copy", 3), &volume("v", 1)), Ok(VolumeOutcome::made()));
    }
    let copy = nodes.at(A).volumes["copy"].clone();
    assert_eq!((&copy["size_gib"], &copy["source"]), (&json!(3), &json!({ "volume": "v" })));
}

#[test]
fn a_clone_onto_another_node_is_unsupported_and_nothing_is_asked() {
    let host = host(&Nodes::new());
    let (driver, cx) = open(&host);
    let refused = driver.clone_volume(&cx, &mock::volume("copy", 1, "b"), &volume("v", 1)).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Unsupported);
    assert!(refused.message.contains("`a`") && refused.message.contains("`b`"), "{}", refused.message);
    assert!(refused.user_message.is_some_and(|text| text.contains("pool")));
    assert!(host.requests().is_empty());
}

#[test]
fn the_source_of_a_clone_has_to_be_there() {
    let (driver, cx) = open(&host(&Nodes::new()));
    assert_eq!(driver.clone_volume(&cx, &volume("copy", 1), &volume("v", 1)).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn a_snapshot_may_be_repeated_and_remembers_its_pool() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    let first = driver.create_snapshot(&cx, &snapshot("s", "v", 1), &volume("v", 1)).unwrap();
    assert_eq!(driver.create_snapshot(&cx, &snapshot("s", "v", 1), &volume("v", 1)).unwrap(), first);
    assert_eq!(first.provider_data.as_deref(), Some(r#"{"pool":"a"}"#));
    assert_eq!(nodes.at(A).snapshots.len(), 1);
}

#[test]
fn a_snapshot_of_another_volume_under_the_same_id_is_busy() {
    let (driver, cx) = open(&host(&Nodes::new()));
    for id in ["v", "w"] {
        driver.create_volume(&cx, &volume(id, 1)).unwrap();
    }
    driver.create_snapshot(&cx, &snapshot("s", "v", 1), &volume("v", 1)).unwrap();
    assert_eq!(driver.create_snapshot(&cx, &snapshot("s", "w", 1), &volume("w", 1)).unwrap_err().kind, ErrorKind::Busy);
}

#[test]
fn a_snapshots_delete_may_be_repeated() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    driver.create_snapshot(&cx, &snapshot("s", "v", 1), &volume("v", 1)).unwrap();
    for _ in 0..2 {
        assert_eq!(driver.delete_snapshot(&cx, &snapshot("s", "v", 1), &volume("v", 1)), Ok(()));
    }
    assert!(nodes.at(A).snapshots.is_empty());
}

#[test]
fn a_snapshot_of_an_older_generation_is_refused() {
    let host = host(&Nodes::new());
    let (driver, cx) = open_as(&host, 9);
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    driver.create_snapshot(&cx, &snapshot("s", "v", 1), &volume("v", 1)).unwrap();
    let (driver, older) = open_as(&host, 3);
    let refused = driver.delete_snapshot(&older, &snapshot("s", "v", 1), &volume("v", 1)).unwrap_err();
    assert_eq!((refused.kind, refused.message.contains("stale-generation")), (ErrorKind::Busy, true));
}

#[test]
fn a_volume_is_made_from_a_snapshot_in_its_pool_only() {
    let nodes = Nodes::new();
    let host = host(&nodes);
    let (driver, cx) = open(&host);
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    let taken = driver.create_snapshot(&cx, &snapshot("s", "v", 1), &volume("v", 1)).unwrap();
    let known = VolumeSnapshot { provider_data: taken.provider_data, ..snapshot("s", "v", 1) };
    for _ in 0..2 {
        assert_eq!(driver.create_volume_from_snapshot(&cx, &volume("copy", 2), &known), Ok(VolumeOutcome::made()));
    }
    assert_eq!(nodes.at(A).volumes["copy"]["source"], json!({ "snapshot": "s" }));
    let before = host.requests().len();
    let refused = driver.create_volume_from_snapshot(&cx, &mock::volume("far", 2, "b"), &known).unwrap_err();
    assert_eq!((refused.kind, host.requests().len()), (ErrorKind::Unsupported, before));
}

#[test]
fn a_snapshot_whose_pool_is_not_known_is_not_found_on_the_wrong_node() {
    let (driver, cx) = open(&host(&Nodes::new()));
    let refused = driver.create_volume_from_snapshot(&cx, &mock::volume("far", 2, "b"), &snapshot("s", "v", 1)).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::NotFound);
}

#[test]
fn a_revert_may_be_repeated() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    driver.create_snapshot(&cx, &snapshot("s", "v", 1), &volume("v", 1)).unwrap();
    for _ in 0..2 {
        assert_eq!(driver.revert_volume(&cx, &volume("v", 1), &snapshot("s", "v", 1)), Ok(()));
    }
    assert_eq!(nodes.at(A).volumes["v"]["reverted_to"], "s");
}

#[test]
fn a_revert_is_refused_while_attached_and_without_its_snapshot() {
    let (driver, cx) = open(&host(&Nodes::new()));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    assert_eq!(driver.revert_volume(&cx, &volume("v", 1), &snapshot("s", "v", 1)).unwrap_err().kind, ErrorKind::NotFound);
    driver.create_snapshot(&cx, &snapshot("s", "v", 1), &volume("v", 1)).unwrap();
    driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &connector("h")).unwrap();
    assert_eq!(driver.revert_volume(&cx, &volume("v", 1), &snapshot("s", "v", 1)).unwrap_err().kind, ErrorKind::Busy);
}

fn to(pool: &str, layout: Option<&str>) -> NewType {
    let specs = layout.map(|l| KeyValue::new("linux:layout", l)).into_iter().collect();
    NewType { specs, qos: Vec::new(), multiattach: false, pool: pool.into() }
}

#[test]
fn a_retype_between_the_layouts_is_done_in_place_and_may_be_repeated() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes).option("layout_by_type", true));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    for _ in 0..2 {
        let outcome = driver.retype_volume(&cx, &volume("v", 1), &to("a", Some("target-per-initiator")));
        assert_eq!(outcome, Ok(RetypeOutcome::Done(VolumeUpdate::default())));
    }
    assert_eq!(nodes.at(A).volumes["v"]["layout"], "target-per-initiator");
    driver.retype_volume(&cx, &with_spec(volume("v", 1), "linux:layout", "target-per-initiator"), &to("a", None)).unwrap();
    assert_eq!(nodes.at(A).volumes["v"]["layout"], "target-per-volume", "a type that does not say gets the back end's layout");
}

#[test]
fn a_retype_onto_another_node_needs_a_migration_and_nothing_is_asked() {
    let host = host(&Nodes::new());
    let (driver, cx) = open(&host);
    assert_eq!(driver.retype_volume(&cx, &volume("v", 1), &to("b", None)), Ok(RetypeOutcome::NeedsMigration));
    assert!(host.requests().is_empty());
}

#[test]
fn a_retype_while_attached_is_busy_unless_the_layout_stays() {
    let (driver, cx) = open(&host(&Nodes::new()).option("layout_by_type", true));
    driver.create_volume(&cx, &volume("v", 1)).unwrap();
    driver.connect(&cx, &volume("v", 1), "at", AccessMode::ReadWrite, &connector("h")).unwrap();
    assert!(driver.retype_volume(&cx, &volume("v", 1), &to("a", None)).is_ok());
    let refused = driver.retype_volume(&cx, &volume("v", 1), &to("a", Some("target-per-initiator"))).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Busy);
}

#[test]
fn a_retype_to_a_layout_the_back_end_does_not_export_is_unsupported() {
    let host = host(&Nodes::new());
    let (driver, cx) = open(&host);
    let refused = driver.retype_volume(&cx, &volume("v", 1), &to("a", Some("target-per-initiator"))).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Unsupported);
    assert!(host.requests().is_empty());
}
