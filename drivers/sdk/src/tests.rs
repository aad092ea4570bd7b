//! The helpers, against the mock host.

use std::{cell::RefCell, rc::Rc, time::Duration};

use crate::{
    http::{Header, Response},
    mock,
    prelude::*,
};

const COUNT: Opt<i64> = Opt::integer("count", 1, 9, "How many").default("3");

#[test]
fn an_option_of_another_kind_is_refused_by_name() {
    let host = mock::Host::new().option("count", "three");
    let refusal = host.context("test").get(&COUNT).unwrap_err();
    assert_eq!((refusal.kind, refusal.message.contains("count")), (ErrorKind::Invalid, true));
}

#[test]
fn an_unset_option_is_none_to_find_and_an_error_to_get() {
    let cx = mock::Host::new().context("test");
    assert_eq!(cx.find(&COUNT), Ok(None));
    assert_eq!(cx.get(&COUNT).unwrap_err().kind, ErrorKind::Invalid);
}

#[test]
fn statuses_become_kinds() {
    use ErrorKind::{Auth, Busy, Exhausted, Invalid, NotFound, Transient, Unsupported};
    let kinds = [(400, Invalid), (401, Auth), (404, NotFound), (409, Busy), (501, Unsupported), (503, Transient), (507, Exhausted)];
    for (status, kind) in kinds {
        let host = mock::Host::new().on("GET", "http://a/x", status, "why");
        let refusal = host.context("test").http().get("http://a/x").send().unwrap().ok().unwrap_err();
        assert_eq!(refusal.kind, kind, "{status}");
        assert!(refusal.message.contains("why"));
    }
}

#[test]
fn a_retry_after_header_reaches_the_host() {
    let host = mock::Host::new().answer(|_| {
        Ok(Response { status: 503, headers: vec![Header { name: "retry-after".into(), value: "7".into() }], body: Vec::new() })
    });
    let refusal = host.context("test").http().get("http://a/x").send().unwrap().ok().unwrap_err();
    assert_eq!(refusal.retry_after_ms, Some(7_000));
}

/// An array whose only good token is the last one it gave out.
fn array_with_login() -> (mock::Host, Rc<RefCell<u32>>) {
    let tokens = Rc::new(RefCell::new(0_u32));
    let given = tokens.clone();
    let host = mock::Host::new().answer(move |request| {
        let mut given = given.borrow_mut();
        let (status, body) = if request.url.ends_with("/login") {
            *given += 1;
            (200, format!("\"t{given}\""))
        } else {
            let good = format!("Token t{given}");
            let sent = request.headers.iter().find(|h| h.name == "x-auth").map(|h| h.value.clone());
            (if sent == Some(good) { 200 } else { 401 }, "1".into())
        };
        Ok(Response { status, headers: Vec::new(), body: body.into_bytes() })
    });
    (host, tokens)
}

fn ask(host: &mock::Host) -> u16 {
    let cx = host.context("test");
    let http = cx.http().at("http://a").with_login("x-auth", "Token ", |cx| cx.http().post("http://a/login").send()?.ok()?.json());
    http.get("/x").send().unwrap().status
}

#[test]
fn one_login_serves_many_calls_and_a_refused_token_is_replaced_once() {
    let (host, tokens) = array_with_login();
    assert_eq!((ask(&host), ask(&host)), (200, 200));
    assert_eq!(*tokens.borrow(), 1);
    *tokens.borrow_mut() += 1; // the array forgot the token
    assert_eq!(ask(&host), 200);
    assert_eq!(host.requests().iter().filter(|r| r.url.ends_with("/login")).count(), 2);
}

#[test]
fn kv_updates_read_change_and_write() {
    let cx = mock::Host::new().context("test");
    for _ in 0..3 {
        cx.kv().update("n", |n: Option<u64>| Ok(Some(n.unwrap_or_default() + 1))).unwrap();
    }
    assert_eq!(cx.kv().get::<u64>("n").unwrap().unwrap().value, 3);
    assert!(!cx.kv().insert("n", &9).unwrap());
}

#[test]
fn a_scan_sees_all_pages_of_its_prefix_only() {
    let cx = mock::Host::new().context("test");
    for n in 0..2_345 {
        cx.kv().put(&format!("a/{n:05}"), &n).unwrap();
    }
    cx.kv().put("b/1", &1).unwrap();
    let mut seen = 0;
    cx.kv()
        .each("a/", |_, _: u32| {
            seen += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, 2_345);
}

#[test]
fn a_lock_is_given_back_when_its_guard_goes() {
    let cx = mock::Host::new().context("test");
    let guard = cx.lock("l", Duration::ZERO).unwrap();
    assert!(cx.lock("l", Duration::ZERO).is_err());
    drop(guard);
    assert!(cx.lock("l", Duration::ZERO).is_ok());
}

#[test]
fn waiting_ends_with_the_deadline() {
    let cx = mock::Host::new().context("test");
    let waited = cx.wait_until::<()>(Duration::from_secs(1), || Ok(None)).unwrap_err();
    assert_eq!((waited.kind, cx.remaining()), (ErrorKind::Transient, Duration::ZERO));
}
