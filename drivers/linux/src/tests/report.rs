use stowage_driver_sdk::{
    http::HttpError,
    mock,
    prelude::*,
    serde_json::{Value as Json, json},
};

use super::{A, B, Nodes, host, open, single, volume};

fn report(host: &mock::Host) -> CapabilityReport {
    let (driver, cx) = open(host);
    driver.report(&cx).unwrap()
}

fn init(host: &mock::Host) -> Result<()> {
    let (driver, cx) = open(host);
    driver.init(&cx)
}

fn reason(pool: &Pool) -> String {
    match pool.extra.iter().find(|p| p.key == "unavailable_reason") {
        Some(Property { value: Value::Text(text), .. }) => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn down() -> HttpError {
    HttpError::Unreachable("connection refused".into())
}

#[test]
fn each_node_is_a_pool_with_its_room_in_gib() {
    let nodes = Nodes::new();
    let report = report(&host(&nodes).option("max_over_subscription_ratio", 4.0).option("reserved_percentage", 5));
    let names: Vec<&str> = report.pools.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let pool = &report.pools[0];
    assert_eq!((pool.total, pool.free, pool.provisioned_gib), (Capacity::Gib(100.0), Capacity::Gib(90.0), Some(250.0)));
    assert_eq!((pool.available, pool.thin_provisioning, pool.thick_provisioning), (true, true, false));
    assert_eq!((pool.max_over_subscription_ratio, pool.reserved_percentage), (Some(4.0), Some(5)));
    assert!(pool.extra.contains(&Property::new("node_id", "node-a")));
}

#[test]
fn what_the_operator_leaves_open_the_host_decides() {
    let report = report(&host(&Nodes::new()));
    assert_eq!((report.pools[0].max_over_subscription_ratio, report.pools[0].reserved_percentage), (None, None));
}

#[test]
fn features_are_the_nodes_own() {
    let nodes = Nodes::new();
    nodes.at(B).about["features"] = json!({ "multiattach": true, "online_extend": false, "thin": false });
    let report = report(&host(&nodes));
    assert_eq!(report.features.block_protocols, [BlockProtocol::Iscsi]);
    assert_eq!((report.features.multiattach, report.features.online_extend), (true, true));
    let of = |n: usize| (report.pools[n].multiattach, report.pools[n].online_extend, report.pools[n].thick_provisioning);
    assert_eq!((of(0), of(1)), ((Some(true), Some(true), false), (Some(true), Some(false), true)));
}

#[test]
fn free_room_is_never_above_the_total() {
    let nodes = Nodes::new();
    nodes.at(A).capacity = json!({ "total_bytes": 10, "free_bytes": u64::MAX, "provisioned_bytes": 0 });
    let report = report(&host(&nodes));
    assert_eq!(report.pools[0].free, report.pools[0].total);
}

#[test]
fn shared_targets_follow_the_layouts_that_volumes_may_have() {
    let nodes = Nodes::new();
    let with = |layout: &str, by_type: bool| {
        report(&host(&nodes).option("layout", layout).option("layout_by_type", by_type)).features.shared_targets
    };
    assert_eq!(with("target-per-volume", false), SharedTargets::No);
    assert_eq!(with("target-per-initiator", false), SharedTargets::Yes);
    assert_eq!(with("target-per-volume", true), SharedTargets::Unknown);
    assert_eq!(with("target-per-initiator", true), SharedTargets::Unknown);
}

#[test]
fn volumes_of_an_earlier_layout_keep_shared_targets_unknown_until_they_are_gone() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes).option("layout", "target-per-initiator"));
    driver.create_volume(&cx, &volume("old", 1)).unwrap();
    let now = host(&nodes);
    assert_eq!(report(&now).features.shared_targets, SharedTargets::Unknown);
    assert!(now.log().iter().any(|(_, text)| text.contains("volume old has the layout")));
    nodes.at(A).volumes.clear();
    assert_eq!(report(&now).features.shared_targets, SharedTargets::No);
}

#[test]
fn a_node_is_looked_through_once_for_all_reports() {
    let nodes = Nodes::new();
    for n in 0..2_500 {
        nodes.at(A).volumes.insert(format!("v{n:05}"), json!({ "id": format!("v{n:05}"), "size_gib": 1, "layout": "target-per-volume" }));
    }
    let host = host(&nodes);
    for _ in 0..3 {
        assert_eq!(report(&host).features.shared_targets, SharedTargets::No);
    }
    let lists: Vec<String> = nodes.at(A).asked.iter().filter(|a| a.starts_with("GET /v1/volumes")).cloned().collect();
    assert_eq!(lists, ["GET /v1/volumes?limit=1000", "GET /v1/volumes?limit=1000&after=v00999", "GET /v1/volumes?limit=1000&after=v01999"]);
}

#[test]
fn a_list_that_goes_round_in_circles_is_left() {
    let nodes = Nodes::new();
    nodes.at(A).answers("GET /v1/volumes", 200, r#"{"volumes": [], "next": "x"}"#);
    assert_eq!(report(&host(&nodes)).features.shared_targets, SharedTargets::Unknown);
}

#[test]
fn a_node_that_is_down_makes_its_pool_unavailable_with_the_reason_and_leaves_the_others() {
    let nodes = Nodes::new();
    nodes.at(A).fails("GET", down());
    let host = host(&nodes);
    let report = report(&host);
    assert_eq!((report.pools[0].available, report.pools[1].available), (false, true));
    assert_eq!((report.pools[0].total, report.pools[0].free), (Capacity::Unknown, Capacity::Unknown));
    assert!(reason(&report.pools[0]).contains("connection refused"));
    assert!(host.log().iter().any(|(level, text)| *level == Level::Warn && text.contains("a node is unavailable: pool `a`")));
    let (driver, cx) = open(&host);
    assert!(driver.create_volume(&cx, &mock::volume("v", 1, "b")).is_ok());
}

#[test]
fn an_outage_does_not_change_what_volumes_may_do() {
    let nodes = Nodes::new();
    let host = single(&nodes);
    let before = report(&host).features;
    nodes.at(A).fails("GET", down());
    assert_eq!(report(&host).features, before);
}

#[test]
fn of_a_node_that_was_never_seen_nothing_is_promised_that_must_be_proved() {
    let nodes = Nodes::new();
    nodes.at(A).fails("GET", down());
    let report = report(&single(&nodes));
    assert_eq!((report.features.multiattach, report.features.online_extend), (true, false));
    assert_eq!(report.features.shared_targets, SharedTargets::Unknown);
}

#[test]
fn every_other_failure_of_a_node_is_a_reason_too() {
    for (what, status, body, word) in [
        ("GET /v1/node", 401, r#"{"error": {"kind": "auth", "message": "wrong token"}}"#, "wrong token"),
        ("GET /v1/node", 200, "{}", "cannot be used"),
        ("GET /v1/node", 200, r#"{"id": 5}"#, "cannot be used"),
        ("GET /v1/capacity", 503, r#"{"error": {"kind": "transient", "message": "starting"}}"#, "starting"),
        ("GET /v1/capacity", 200, r#"{"total_bytes": "many"}"#, "cannot be used"),
        ("GET /v1/capacity", 200, r#"{"total_bytes": -1, "free_bytes": 0, "provisioned_bytes": 0}"#, "cannot be used"),
    ] {
        let nodes = Nodes::new();
        nodes.at(A).answers(what, status, body);
        let report = report(&host(&nodes));
        assert_eq!((report.pools[0].available, report.pools[1].available), (false, true), "{what} {body}");
        assert!(reason(&report.pools[0]).contains(word), "{}", reason(&report.pools[0]));
    }
}

#[test]
fn a_node_without_what_the_back_end_needs_is_unavailable() {
    for (member, value, word) in [
        ("api", json!("v2"), "v2"),
        ("layouts", json!(["target-per-initiator"]), "target-per-volume"),
        ("id", json!(""), "its id"),
        ("id", json!("a\u{0}b"), "its id"),
    ] {
        let nodes = Nodes::new();
        nodes.at(A).about[member] = value;
        let report = report(&host(&nodes));
        assert!(!report.pools[0].available && reason(&report.pools[0]).contains(word), "{member}");
    }
}

#[test]
fn one_dead_node_does_not_use_up_the_time_of_the_others() {
    let nodes = Nodes::new();
    nodes.at(A).fails("GET", HttpError::Timeout);
    let host = host(&nodes);
    report(&host);
    assert!(host.requests().iter().all(|r| r.timeout_ms.is_some_and(|ms| ms <= 5_000)));
}

#[test]
fn a_start_tells_the_first_report_which_nodes_are_down() {
    let nodes = Nodes::new();
    nodes.at(A).fails("GET", down());
    let host = host(&nodes);
    init(&host).unwrap();
    assert!(!report(&host).pools[0].available);
    assert_eq!(nodes.at(A).asked.len(), 1, "a starting service does not wait for it twice");
}

#[test]
fn a_node_that_came_back_is_asked_again() {
    let nodes = Nodes::new();
    nodes.at(A).fails("GET", down());
    let host = host(&nodes);
    init(&host).unwrap();
    nodes.at(A).instead.clear();
    host.context("test").sleep(std::time::Duration::from_secs(10)).unwrap();
    assert!(report(&host).pools[0].available);
}

#[test]
fn a_back_end_of_which_no_node_answers_is_kept_out_of_service() {
    let nodes = Nodes::new();
    nodes.at(A).fails("GET", down());
    nodes.at(B).answers("GET", 401, r#"{"error": {"kind": "auth", "message": "wrong token"}}"#);
    let refused = init(&host(&nodes)).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Auth, "what must be repaired by hand comes first: {refused:?}");
    nodes.at(B).instead.clear();
    assert_eq!(init(&host(&nodes)), Ok(()));
}

#[test]
fn a_url_that_is_not_granted_is_a_fault_of_the_configuration() {
    let nodes = Nodes::new();
    nodes.at(B).fails("GET", HttpError::Denied("b.test:8788 is not in the back end's `allow` list".into()));
    let refused = init(&host(&nodes)).unwrap_err();
    assert_eq!((refused.kind, refused.message.contains("b.test:8788")), (ErrorKind::Unsupported, true));
}

#[test]
fn two_pools_on_one_node_are_refused() {
    let nodes = Nodes::new();
    nodes.at(B).about["id"] = json!("node-a");
    let host = host(&nodes);
    let refused = init(&host).unwrap_err();
    assert_eq!((refused.kind, refused.message.contains("same node")), (ErrorKind::Invalid, true));
    let report = report(&host);
    assert_eq!((report.pools[0].available, report.pools[1].available), (true, false), "nor does a report count its room twice");
}

#[test]
fn another_node_behind_a_pool_is_noticed_and_only_taken_when_the_operator_says_so() {
    let nodes = Nodes::new();
    let host = host(&nodes);
    assert!(report(&host).pools[0].available);
    nodes.at(A).about["id"] = json!("node-c");
    let refused = init(&host).unwrap_err();
    assert!(refused.message.contains("node-a") && refused.message.contains("node-c") && refused.message.contains("accept_replaced_nodes"));
    assert!(!report(&host).pools[0].available);
    let host = host.option("accept_replaced_nodes", true);
    assert_eq!(init(&host), Ok(()));
    assert!(report(&host).pools[0].available);
}

#[test]
fn nothing_but_reads_is_sent_by_init_and_report() {
    let nodes = Nodes::new();
    let host = host(&nodes);
    init(&host).unwrap();
    report(&host);
    assert!(nodes.at(A).asked.iter().all(|a| a.starts_with("GET ")));
}

#[test]
fn a_target_layout_can_be_matched_by_a_type() {
    let extra = |host: mock::Host| report(&host).pools[0].extra.iter().find(|p| p.key == "target_layout").map(|p| p.value.clone());
    let texts = |of: &[&str]| Some(Value::Texts(of.iter().map(|t| (*t).to_owned()).collect()));
    assert_eq!(extra(host(&Nodes::new())), texts(&["target-per-volume"]));
    assert_eq!(extra(host(&Nodes::new()).option("layout_by_type", true)), texts(&["target-per-volume", "target-per-initiator"]));
}

#[test]
fn what_is_remembered_of_a_node_is_written_once() {
    let nodes = Nodes::new();
    let host = host(&nodes);
    for _ in 0..3 {
        report(&host);
    }
    let known = |pool: &str| host.context("test").kv().get::<Json>(&format!("node/{pool}")).unwrap().unwrap();
    assert_eq!((known("a").value["id"].clone(), known("b").value["id"].clone()), (json!("node-a"), json!("node-b")));
    assert_eq!((known("a").version, known("b").version), (1, 2));
}
