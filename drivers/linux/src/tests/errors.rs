use stowage_driver_sdk::{
    http::{Header, HttpError, Response},
    prelude::*,
};

use super::{A, Nodes, host, open, volume};

/// What a create and a delete come to when the node answers so.
fn both(answer: Result<Response, HttpError>) -> [DriverError; 2] {
    let nodes = Nodes::new();
    nodes.at(A).instead.insert("PUT".into(), answer.clone());
    nodes.at(A).instead.insert("DELETE".into(), answer);
    let (driver, cx) = open(&host(&nodes));
    [driver.create_volume(&cx, &volume("v", 1)).unwrap_err(), driver.delete_volume(&cx, &volume("v", 1)).unwrap_err()]
}

fn said(status: u16, kind: &str) -> Result<Response, HttpError> {
    let body = format!(r#"{{"error": {{"kind": "{kind}", "message": "because of {kind}"}}}}"#);
    Ok(Response { status, headers: Vec::new(), body: body.into() })
}

fn plain(status: u16, body: &str) -> Result<Response, HttpError> {
    Ok(Response { status, headers: Vec::new(), body: body.into() })
}

#[test]
fn every_kind_of_the_node_becomes_the_kind_the_contract_names() {
    use ErrorKind::{Auth, Busy, DataLossRisk, Exhausted, Internal, Invalid, Transient, Unsupported};
    for (status, kind, expected) in [
        (400, "invalid", Invalid),
        (413, "invalid", Invalid),
        (401, "auth", Auth),
        (409, "conflict", Busy),
        (409, "busy", Busy),
        (409, "stale-generation", Busy),
        (409, "data-loss-risk", DataLossRisk),
        (507, "exhausted", Exhausted),
        (501, "unsupported", Unsupported),
        (404, "unsupported", Unsupported),
        (503, "transient", Transient),
        (500, "internal", Internal),
        (418, "a-kind-of-tomorrow", Internal),
    ] {
        for refused in both(said(status, kind)) {
            assert_eq!(refused.kind, expected, "{kind}");
            assert!(refused.message.contains(&format!("because of {kind}")), "{}", refused.message);
            assert!(refused.message.contains("pool `a` at http://a.test:8788"), "{}", refused.message);
            assert!(!refused.user_message.unwrap_or_default().contains("a.test"), "no addresses for users");
        }
    }
}

#[test]
fn not_found_is_an_error_of_a_change_and_the_success_of_a_delete() {
    let nodes = Nodes::new();
    nodes.at(A).instead.insert("DELETE".into(), said(404, "not-found"));
    let (driver, cx) = open(&host(&nodes));
    assert_eq!(driver.delete_volume(&cx, &volume("v", 1)), Ok(()));
    assert_eq!(driver.ensure_export(&cx, &volume("v", 1)).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn the_kind_decides_and_not_the_status() {
    for refused in both(said(404, "busy")) {
        assert_eq!(refused.kind, ErrorKind::Busy);
    }
}

#[test]
fn a_node_that_asks_to_come_back_is_left_alone_for_so_long() {
    let after = |seconds: &str| {
        said(503, "transient").map(|r| Response { headers: vec![Header { name: "retry-after".into(), value: seconds.into() }], ..r })
    };
    for (seconds, expected) in [("7", Some(7_000)), (" 2 ", Some(2_000)), ("99999999", Some(u32::MAX)), ("soon", None), ("-1", None)] {
        for refused in both(after(seconds)) {
            assert_eq!((refused.kind, refused.retry_after_ms), (ErrorKind::Transient, expected), "{seconds}");
        }
    }
}

#[test]
fn what_is_not_the_nodes_word_ends_no_work_as_done() {
    use ErrorKind::{Auth, Internal, Transient};
    let cases = [
        (404, "<html>nginx</html>", Internal),
        (410, "", Internal),
        (409, "{}", Internal),
        (400, "bad", Internal),
        (200, "<html>log in first</html>", Internal),
        (202, "", Internal),
        (301, "", Internal),
        (500, "", Internal),
        (507, "", Internal),
        (401, "", Auth),
        (403, "", Auth),
        (429, "", Transient),
        (502, "", Transient),
        (503, "", Transient),
        (504, "", Transient),
    ];
    for (status, body, expected) in cases {
        for refused in both(plain(status, body)) {
            assert_eq!(refused.kind, expected, "{status} {body}");
        }
    }
}

#[test]
fn an_answer_with_no_content_is_no_success_of_a_create() {
    let nodes = Nodes::new();
    nodes.at(A).answers("PUT", 204, "");
    let (driver, cx) = open(&host(&nodes));
    assert_eq!(driver.create_volume(&cx, &volume("v", 1)).unwrap_err().kind, ErrorKind::Internal);
}

#[test]
fn a_request_that_gets_no_answer_is_transient_and_one_that_is_not_permitted_is_not() {
    use ErrorKind::{Transient, Unsupported};
    for (error, expected) in [
        (HttpError::Unreachable("connection refused".into()), Transient),
        (HttpError::Timeout, Transient),
        (HttpError::Interrupted("reset".into()), Transient),
        (HttpError::Tls("unknown issuer".into()), Transient),
        (HttpError::NotOwner, Transient),
        (HttpError::Denied("a.test:8788 is not in the back end's `allow` list".into()), Unsupported),
        (HttpError::TooLarge(1 << 24), ErrorKind::Internal),
    ] {
        for refused in both(Err(error.clone())) {
            assert_eq!(refused.kind, expected, "{error:?}");
            assert!(refused.message.contains("pool `a`"), "{}", refused.message);
        }
    }
}

#[test]
fn a_nodes_endless_message_is_cut() {
    let text = "\u{e4}".repeat(5_000);
    let refused = both(plain(400, &format!(r#"{{"error": {{"kind": "invalid", "message": "{text}"}}}}"#)));
    assert!(refused.iter().all(|e| e.kind == ErrorKind::Invalid && e.message.len() < 2_000));
}
