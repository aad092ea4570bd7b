//! Each lie about a share server ends its own call, nothing of it is kept, and the back end serves on.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use stowage::{
    config::{BackendKind, Grants},
    driver::{
        Backend, DriverError, ErrorKind,
        types::{Answer, NetworkCheck, ServerDetails, ServerSituation, Share, ShareServer, StringMap},
    },
};

use crate::{
    objects::{id, network, share},
    rig::{Rig, call},
};

/// The back end with this lie, which has memory enough to say it.
async fn lying(rig: &Rig, lie: &str) -> Arc<Backend> {
    let grants = Grants { memory_mib: 1024, call_timeout: Duration::from_secs(60), ..Grants::default() };
    rig.try_open_as(BackendKind::Share, lie, "hostile-servers", json!({ "lie": lie }), grants).await.unwrap()
}

async fn set_up(backend: &Backend) -> Result<Answer<ServerDetails>, DriverError> {
    backend.need_share_servers().unwrap().setup(&call("setup"), &id(), &[network(1), network(2)], &StringMap::new()).await
}

/// A server with a share on it.
fn situation() -> ServerSituation {
    let server = ShareServer { id: id(), details: ServerDetails::from([("address".to_owned(), "198.51.1.9".to_owned())]) };
    let share = Share { locations: Vec::new(), ..share(1, Some(server.clone())) };
    ServerSituation { server, current: vec![network(1)], shares: vec![share], snapshots: Vec::new(), rules: Default::default() }
}

/// What a lie about an update comes to.
async fn update(rig: &Rig, lie: &str) -> DriverError {
    let backend = lying(rig, lie).await;
    let failure = backend.need_allocations().unwrap().update(&call("update"), &situation(), &network(2)).await.unwrap_err();
    serves_on(&backend).await;
    failure
}

async fn serves_on(backend: &Backend) {
    backend.need_share_servers().unwrap().teardown(&call("teardown"), &id(), None, &[]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_lie_servers_are_built_and_given_more() {
    let rig = Rig::new().await;
    let backend = lying(&rig, "none").await;
    assert!(matches!(set_up(&backend).await.unwrap(), Answer::Done(details) if details["address"] == "198.51.1.9"));
    let allocations = backend.need_allocations().unwrap();
    assert_eq!(allocations.check_update(&call("check"), &situation(), &network(2).subnet).await.unwrap(), NetworkCheck::Ok);
    let Answer::Done(update) = allocations.update(&call("update"), &situation(), &network(2)).await.unwrap() else { panic!("pending") };
    assert_eq!(update.shares.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn details_and_tokens_beyond_their_limits_are_wrong_answers_that_say_so() {
    let rig = Rig::new().await;
    for (lie, why) in [
        ("huge-details", "server details has"),
        ("many-details", "too much data is being copied"),
        ("endless-token", "a pending token has 100000 bytes"),
    ] {
        let backend = lying(&rig, lie).await;
        let failure = set_up(&backend).await.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::WrongAnswer, "{lie}: {failure}");
        assert!(failure.message.contains(why), "{lie}: {failure}");
        serves_on(&backend).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_failure_leaves_is_dropped_when_it_is_too_much_and_the_failure_is_still_told() {
    let rig = Rig::new().await;
    let backend = lying(&rig, "huge-partial").await;
    let failed = [set_up(&backend).await.unwrap_err(), update(&rig, "huge-update-partial").await];
    for (failure, why) in failed.iter().zip(["half of it is built", "half of it is done"]) {
        assert_eq!((failure.kind, failure.partial.as_ref()), (ErrorKind::Invalid, None));
        assert!(failure.message.contains(why), "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_given_more_addresses_than_there_is_use_for() {
    let rig = Rig::new().await;
    let backend = lying(&rig, "many-addresses").await;
    let failure = backend.need_share_servers().unwrap().allocations_wanted(&call("wanted")).await.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::WrongAnswer, "{failure}");
    assert!(failure.message.contains("4294967295 addresses") && failure.message.contains("at most 256"), "{failure}");
    serves_on(&backend).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_cut_to_what_can_be_kept_and_read() {
    let rig = Rig::new().await;
    let backend = lying(&rig, "long-refusal").await;
    let check = backend.need_allocations().unwrap().check_update(&call("check"), &situation(), &network(2).subnet).await.unwrap();
    let NetworkCheck::Refused(why) = check else { panic!("{check:?}") };
    assert!(why.starts_with("no,") && why.len() < 10_000 && !why.contains('\0'), "{} bytes", why.len());
    serves_on(&backend).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_tells_of_others_or_of_nothing_is_a_wrong_answer_that_says_so() {
    let rig = Rig::new().await;
    for (lie, why) in [
        ("others-shares", "is answered but is not on the server"),
        ("others-snapshots", "is answered but is not on the server"),
        ("twice", "is answered twice"),
        ("no-locations", "has no export location"),
        ("many-locations", "100000 export locations, at most"),
        ("huge-update-details", "server details has"),
        ("endless-update-token", "a pending token has 100000 bytes"),
    ] {
        let failure = update(&rig, lie).await;
        assert_eq!(failure.kind, ErrorKind::WrongAnswer, "{lie}: {failure}");
        assert!(failure.message.contains(why), "{lie}: {failure}");
    }
}
