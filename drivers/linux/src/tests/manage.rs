use stowage_driver_sdk::{http::HttpError, mock, prelude::*};

use super::{A, B, Nodes, host, open, single, volume};

fn named(name: &str) -> Vec<KeyValue> {
    vec![KeyValue::new("source-name", name)]
}

fn in_pool(name: &str, pool: &str) -> Vec<KeyValue> {
    vec![KeyValue::new("source-name", name), KeyValue::new("pool", pool)]
}

#[test]
fn a_file_is_found_on_whichever_node_has_it() {
    let nodes = Nodes::new();
    nodes.at(B).import("disk.raw", 7, None);
    let (driver, cx) = open(&host(&nodes));
    assert_eq!(driver.size_of(&cx, &named("disk.raw")), Ok(7));
}

#[test]
fn a_file_that_is_found_is_enough_when_another_node_is_down() {
    let nodes = Nodes::new();
    nodes.at(B).import("disk.raw", 7, None);
    nodes.at(A).fails("GET", HttpError::Unreachable("connection refused".into()));
    let (driver, cx) = open(&host(&nodes));
    assert_eq!(driver.size_of(&cx, &named("disk.raw")), Ok(7));
    assert_eq!(driver.size_of(&cx, &named("other.raw")).unwrap_err().kind, ErrorKind::Transient, "it may be on the one that is down");
}

#[test]
fn a_name_that_several_nodes_have_needs_its_pool() {
    let nodes = Nodes::new();
    nodes.at(A).import("disk.raw", 3, None);
    nodes.at(B).import("disk.raw", 7, None);
    let (driver, cx) = open(&host(&nodes));
    let refused = driver.size_of(&cx, &named("disk.raw")).unwrap_err();
    assert_eq!((refused.kind, refused.message.contains("a, b")), (ErrorKind::Invalid, true));
    assert_eq!(driver.size_of(&cx, &in_pool("disk.raw", "b")), Ok(7));
}

#[test]
fn references_that_lead_nowhere_are_invalid() {
    let host = host(&Nodes::new());
    let (driver, cx) = open(&host);
    for reference in [vec![], named(""), named("absent.raw"), in_pool("absent.raw", "a"), named("../../etc/passwd"), named(".hidden")] {
        assert_eq!(driver.size_of(&cx, &reference).unwrap_err().kind, ErrorKind::Invalid, "{reference:?}");
        assert_eq!(driver.adopt_volume(&cx, &volume("v", 1), &reference).unwrap_err().kind, ErrorKind::Invalid, "{reference:?}");
    }
    assert!(host.requests().iter().all(|r| !r.url.contains("..")));
}

#[test]
fn a_file_that_is_not_safe_is_refused_with_the_reason() {
    let nodes = Nodes::new();
    nodes.at(A).import("disk.raw", 3, Some("it is open for writing by pid 7"));
    let (driver, cx) = open(&host(&nodes));
    let refused = driver.size_of(&cx, &named("disk.raw")).unwrap_err();
    assert_eq!((refused.kind, refused.message.contains("open for writing")), (ErrorKind::Invalid, true));
}

#[test]
fn an_adoption_may_be_repeated() {
    let nodes = Nodes::new();
    nodes.at(A).import("disk.raw", 3, None);
    let (driver, cx) = open(&host(&nodes));
    for _ in 0..2 {
        let adopted = driver.adopt_volume(&cx, &volume("v", 3), &named("disk.raw")).unwrap();
        assert_eq!(adopted.size_gib, 3);
    }
    assert!(nodes.at(A).volumes.contains_key("v") && nodes.at(A).imports.is_empty());
}

#[test]
fn a_file_that_was_adopted_is_no_longer_there_for_another() {
    let nodes = Nodes::new();
    nodes.at(A).import("disk.raw", 3, None);
    let (driver, cx) = open(&host(&nodes));
    driver.adopt_volume(&cx, &volume("v", 3), &named("disk.raw")).unwrap();
    assert_eq!(driver.adopt_volume(&cx, &volume("w", 3), &named("disk.raw")).unwrap_err().kind, ErrorKind::Invalid);
}

#[test]
fn an_adoption_stays_in_the_pool_of_its_volume() {
    let nodes = Nodes::new();
    nodes.at(B).import("disk.raw", 3, None);
    let (driver, cx) = open(&host(&nodes));
    assert_eq!(driver.adopt_volume(&cx, &volume("v", 3), &in_pool("disk.raw", "b")).unwrap_err().kind, ErrorKind::Invalid);
    assert!(driver.adopt_volume(&cx, &mock::volume("v", 3, "b"), &in_pool("disk.raw", "b")).is_ok());
}

#[test]
fn a_release_gives_the_file_back_and_may_be_repeated() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.create_volume(&cx, &volume("v", 2)).unwrap();
    for _ in 0..2 {
        assert_eq!(driver.release_volume(&cx, &volume("v", 2)), Ok(()));
    }
    assert_eq!(driver.size_of(&cx, &named("v.raw")), Ok(2));
}

#[test]
fn all_files_are_listed_page_by_page() {
    let nodes = Nodes::new();
    for n in 0..25 {
        nodes.at(A).import(&format!("disk{n:02}.raw"), 1, (n == 3).then_some("it is empty"));
    }
    let (driver, cx) = open(&single(&nodes));
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page = driver.list_manageable(&cx, "a", after.as_deref(), 10).unwrap();
        assert!(page.items.len() <= 10);
        seen.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen.len(), 25);
    assert_eq!(seen[3].unsafe_because.as_deref(), Some("it is empty"));
    assert_eq!(seen[4].reference, named("disk04.raw"));
}

#[test]
fn with_several_nodes_a_listed_reference_names_its_pool() {
    let nodes = Nodes::new();
    nodes.at(B).import("disk.raw", 1, None);
    let (driver, cx) = open(&host(&nodes));
    let page = driver.list_manageable(&cx, "b", None, 10).unwrap();
    assert_eq!(page.items[0].reference, in_pool("disk.raw", "b"));
    assert!(driver.size_of(&cx, &page.items[0].reference).is_ok());
}

#[test]
fn a_page_is_never_larger_than_asked_for_whatever_the_node_sends() {
    let nodes = Nodes::new();
    let file = |n: usize| format!(r#"{{"name": "f{n:06}", "size_bytes": 1, "size_gib": 1, "unsafe_because": null}}"#);
    let files: Vec<String> = (0..50_000).map(file).collect();
    nodes.at(A).answers("GET /v1/import", 200, &format!(r#"{{"files": [{}], "next": null}}"#, files.join(",")));
    let (driver, cx) = open(&host(&nodes));
    let page = driver.list_manageable(&cx, "a", None, 10).unwrap();
    assert_eq!((page.items.len(), page.next.as_deref()), (10, Some("f000009")));
}

#[test]
fn a_marker_is_written_into_the_query_safely() {
    let nodes = Nodes::new();
    let (driver, cx) = open(&host(&nodes));
    driver.list_manageable(&cx, "a", Some("a b&limit=9#?\u{e4}"), u32::MAX).unwrap();
    assert_eq!(nodes.at(A).asked, ["GET /v1/import?limit=1000&after=a%20b%26limit%3D9%23%3F%C3%A4"]);
}
