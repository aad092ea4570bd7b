//! Each misdeed ends its own call with its own error, and the next call to the same back end is served.

use std::time::Duration;

use serde_json::json;
use stowage::{
    config::Grants,
    driver::{
        DriverError, ErrorKind,
        types::{AccessChange, AccessMode, EnsureItem},
    },
};

use crate::{
    objects::{connector, rule, share, volume},
    rig::{Rig, call},
};

/// Commits `mode` in `volumes.create`, then shows that the back end still serves.
async fn misdeed_with(mode: &str, grants: Grants) -> DriverError {
    let rig = Rig::new().await;
    let backend = rig.try_open("h", "hostile", json!({ "mode": mode, "verb": "volumes.create" }), grants).await.unwrap();
    let failure = backend.need_volumes().unwrap().create(&call("op"), &volume(1)).await.unwrap_err();
    backend.need_volumes().unwrap().delete(&call("op2"), &volume(1)).await.unwrap();
    failure
}

async fn misdeed(mode: &str) -> DriverError {
    misdeed_with(mode, Grants { call_timeout: Duration::from_secs(2), ..Grants::default() }).await
}

/// Memory enough to build what the answer limit must stop.
fn roomy() -> Grants {
    Grants { memory_mib: 1024, call_timeout: Duration::from_secs(60), ..Grants::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_loop_ends_at_the_deadline() {
    let failure = misdeed("loop").await;
    assert_eq!(failure.kind, ErrorKind::Deadline);
    assert!(failure.may_have_happened());
}

#[tokio::test(flavor = "multi_thread")]
async fn sleeping_past_the_deadline_ends_at_the_deadline() {
    assert_eq!(misdeed("sleep").await.kind, ErrorKind::Deadline);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_own_deadline_counts_when_it_is_earlier() {
    let rig = Rig::new().await;
    let grants = Grants { call_timeout: Duration::from_secs(600), ..Grants::default() };
    let backend = rig.try_open("h", "hostile", json!({ "mode": "loop" }), grants).await.unwrap();
    let short = call("op").within(Duration::from_millis(200));
    let failure = backend.need_volumes().unwrap().create(&short, &volume(1)).await.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::Deadline);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_bomb_meets_its_limit() {
    let failure = misdeed_with("memory", roomy()).await;
    assert_eq!(failure.kind, ErrorKind::MemoryLimit);
    assert!(failure.message.contains("granted are 1073741824"), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_recursion_is_a_stack_overflow() {
    assert_eq!(misdeed("recursion").await.kind, ErrorKind::StackOverflow);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_a_trap_that_names_the_drivers_functions() {
    let failure = misdeed("panic").await;
    assert_eq!(failure.kind, ErrorKind::Trap);
    assert!(failure.message.contains("hostile"), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_instruction_is_a_trap() {
    assert_eq!(misdeed("trap").await.kind, ErrorKind::Trap);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_answer_meets_the_memory_limit_first() {
    assert_eq!(misdeed("huge-answer").await.kind, ErrorKind::MemoryLimit);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_answer_from_a_roomy_driver_meets_the_answer_limit() {
    assert_eq!(misdeed_with("huge-answer", roomy()).await.kind, ErrorKind::WrongAnswer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_error_from_a_roomy_driver_meets_the_answer_limit() {
    assert_eq!(misdeed_with("error-flood", roomy()).await.kind, ErrorKind::WrongAnswer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_too_long_for_its_column_is_a_wrong_answer() {
    assert_eq!(misdeed("long-answer").await.kind, ErrorKind::WrongAnswer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_beyond_its_limit_is_a_wrong_answer() {
    assert_eq!(misdeed("forever-pending").await.kind, ErrorKind::WrongAnswer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_flood_costs_lines_and_at_most_the_call() {
    let rig = Rig::new().await;
    let backend = rig.hostile("h", "log-flood", "volumes.create").await;
    let flooded = backend.need_volumes().unwrap().create(&call("op"), &volume(1)).await;
    assert!(flooded.as_ref().map_or_else(|e| e.kind == ErrorKind::Deadline, |_| true), "{flooded:?}");
    backend.need_volumes().unwrap().delete(&call("op2"), &volume(1)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_what_the_host_keeps_are_refused_to_the_driver() {
    for mode in ["kv-flood", "session-flood", "lock-flood"] {
        let grants = Grants { kv_mib: 1, call_timeout: Duration::from_secs(60), ..Grants::default() };
        let failure = misdeed_with(mode, grants).await;
        assert!(failure.kind.is_said_by_driver(), "{mode}: {failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calls_locks_are_given_back_when_it_ends() {
    let rig = Rig::new().await;
    let backend = rig.hostile("h", "lock-flood", "volumes.create").await;
    let volumes = backend.need_volumes().unwrap();
    let first = volumes.create(&call("op"), &volume(1)).await.unwrap_err();
    // had the first call's locks stayed, the second would fail at its first lock and say otherwise
    for _ in 0..100 {
        if volumes.create(&call("op2"), &volume(1)).await.unwrap_err().message == first.message {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the locks of {first} were not given back");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_not_granted_is_not_reached() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let rig = Rig::new().await;
    let backend = rig.try_open("h", "hostile", json!({ "mode": "http", "url": url }), Grants::default()).await.unwrap();
    let failure = backend.need_volumes().unwrap().create(&call("op"), &volume(1)).await.unwrap_err();
    assert!(failure.kind.is_said_by_driver(), "{failure}");
    let knocked = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(knocked.is_err(), "somebody connected");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_cannot_be_are_wrong_answers() {
    let rig = Rig::new().await;
    for (name, mode, grants) in [("a", "nonsense", Grants::default()), ("b", "long-list", roomy())] {
        let options = json!({ "mode": mode, "verb": "connection-info.connect" });
        let backend = rig.try_open(name, "hostile", options, grants).await.unwrap();
        let connect = backend.need_connection_info().unwrap();
        let failure = connect.connect(&call("op"), &volume(1), "a", AccessMode::ReadWrite, &connector("h")).await.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::WrongAnswer, "{mode}: {failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_nobody_asked_for_are_a_wrong_answer() {
    let rig = Rig::new().await;
    let backend = rig.hostile("h", "wrong-ids", "access.apply").await;
    let rules = vec![rule("192.0.2.0/24")];
    let change = AccessChange { added: rules.clone(), rules, ..AccessChange::default() };
    let failure = backend.need_access().unwrap().apply(&call("op"), &share(1, None), &change).await.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::WrongAnswer, "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ensure_may_leave_a_share_out_but_not_invent_or_repeat_one() {
    let rig = Rig::new().await;
    let items: Vec<EnsureItem> = (0..3).map(|_| EnsureItem { share: share(1, None), snapshots: vec![] }).collect();
    let ensure = |mode: &'static str| {
        let (rig, items) = (&rig, &items);
        async move { rig.hostile(mode, mode, "ensure.ensure-shares").await.need_ensure().unwrap().ensure_shares(&call("op"), items).await }
    };
    assert_eq!(ensure("left-out").await.unwrap().len(), 2);
    assert_eq!(ensure("wrong-ids").await.unwrap_err().kind, ErrorKind::WrongAnswer);
    assert_eq!(ensure("twice").await.unwrap_err().kind, ErrorKind::WrongAnswer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_driver_that_misbehaves_while_it_is_opened_gives_no_back_end() {
    let rig = Rig::new().await;
    let grants = Grants { call_timeout: Duration::from_secs(2), ..Grants::default() };
    for (mode, verb, kind) in [
        ("loop", "lifecycle.init", ErrorKind::Deadline),
        ("panic", "lifecycle.init", ErrorKind::Trap),
        ("nonsense", "capabilities.report", ErrorKind::WrongAnswer),
    ] {
        let opened = rig.try_open("h", "hostile", json!({ "mode": mode, "verb": verb }), grants.clone()).await;
        assert_eq!(opened.err().map(|e| e.kind), Some(kind), "{mode} in {verb}");
    }
}
