//! Reverting to the latest snapshot.

use serde_json::json;
use stowage::driver::ErrorKind;

use super::{act, extend, messages, shown, until_status};
use crate::array::Fault;
use crate::site::{Site, attach};
use crate::snapshots::{snapshot, until};

#[tokio::test]
async fn a_volume_is_reverted_to_its_latest_snapshot() {
    let site = Site::start().await;
    let member = site.member().await.at("3.40");
    let id = site.volume().await;
    site.array.write(&id, "first");
    let earlier = snapshot(&member, &id).await;
    site.array.write(&id, "second");
    let latest = snapshot(&member, &id).await;
    site.array.write(&id, "third");
    let revert = |s: &str| json!({ "snapshot_id": s });
    assert!(act(&member, &id, "revert", revert(&earlier)).await.fault(400).contains("not the latest"));
    site.array.hold("revert");
    act(&member, &id, "revert", revert(&latest)).await.expect(202);
    assert_eq!(shown(&member, &id).await["status"], "reverting");
    assert_eq!(member.get(&format!("/snapshots/{latest}")).await.expect(200)["snapshot"]["status"], "restoring");
    assert_eq!(member.delete(&format!("/snapshots/{latest}")).await.status, 400);
    assert_eq!(act(&member, &id, "revert", revert(&latest)).await.status, 409);
    site.array.release("revert");
    until_status(&member, &id, "available").await;
    until(&member, &latest, "available").await;
    assert_eq!(site.array.content(&id), "second");
    // from 3.40, with an id, for a volume that has one of its size
    assert_eq!(act(&member.at("3.39"), &id, "revert", revert(&latest)).await.status, 404);
    assert_eq!(act(&member, &id, "revert", json!({})).await.status, 400);
    extend(&member, &id, 2).await.expect(202);
    until_status(&member, &id, "available").await;
    assert!(act(&member, &id, "revert", revert(&latest)).await.fault(400).contains("must be equal"));
    let other = site.volume().await;
    assert!(act(&member, &other, "revert", revert(&latest)).await.fault(400).contains("any snapshots"));
}

#[tokio::test]
async fn a_revert_of_an_attached_volume_is_a_conflict() {
    let site = Site::start().await;
    let member = site.member().await.at("3.44");
    let id = site.volume().await;
    let latest = snapshot(&member, &id).await;
    attach(&member, &id, "c1").await;
    let text = act(&member, &id, "revert", json!({ "snapshot_id": latest })).await.fault(409);
    assert!(text.contains("must be available"), "{text}");
}

#[tokio::test]
async fn a_revert_that_did_nothing_leaves_the_volume_available_with_a_message() {
    let site = Site::start().await;
    let member = site.member().await.at("3.40");
    let id = site.volume().await;
    let latest = snapshot(&member, &id).await;
    site.array.lacks("volume-revert");
    site.serve("stowage@a", &site.array).await;
    act(&member, &id, "revert", json!({ "snapshot_id": latest })).await.expect(202);
    until_status(&member, &id, "available").await;
    until(&member, &latest, "available").await;
    let told = messages(&member, &id).await;
    assert!(told[0]["user_message"].as_str().unwrap().contains("cannot do this"), "{told:?}");
}

#[tokio::test]
async fn a_revert_whose_outcome_is_unknown_ends_in_error_and_its_snapshot_is_available() {
    let site = Site::start().await;
    let member = site.member().await.at("3.40");
    let id = site.volume().await;
    let latest = snapshot(&member, &id).await;
    for _ in 0..3 {
        site.array.fault("revert", Fault::LoseAnswer(ErrorKind::Internal));
    }
    act(&member, &id, "revert", json!({ "snapshot_id": latest })).await.expect(202);
    until_status(&member, &id, "error").await;
    until(&member, &latest, "available").await;
    assert_eq!(messages(&member, &id).await.len(), 1);
}
