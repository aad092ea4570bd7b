//! What else is asked of a volume that moves, and moves that are ended.

use serde_json::{Value, json};
use std::time::Duration;

use super::{Two, anywhere, other};
use crate::array::{Array, Fault};
use crate::site::{connect, detach, reserve};
use crate::volume_actions::act;

#[tokio::test]
async fn a_move_whose_time_is_over_while_it_copies_leaves_nothing_behind() {
    let two = Two::start_with(|c| c.copy.max_age = Duration::from_secs(2)).await;
    let id = two.volume().await;
    two.hand.hold();
    two.retype(&id, "on-demand").await.expect(202);
    two.until_copying().await;
    two.until_moved(&id, "error").await;
    two.hand.release();
    // the next one has the same time, and needs less
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn nothing_is_made_of_a_volume_that_moves() {
    let two = Two::start().await;
    let id = anywhere(&two).await;
    two.hand.hold();
    two.migrate(&id, other(&two.shown(&id).await["os-vol-host-attr:host"]), false).await.expect(202);
    two.until_copying().await;
    assert_eq!(two.shown(&id).await["status"], "available");
    let snapshot = json!({ "snapshot": { "volume_id": id } });
    assert_eq!(two.member.post("/snapshots", snapshot).await.status, 400);
    assert_eq!(two.member.post("/volumes", json!({ "volume": { "source_volid": id } })).await.status, 400);
    assert_eq!(act(&two.member, &id, "os-extend", json!({ "new_size": 9 })).await.status, 400);
    assert_eq!(two.retype(&id, "on-demand").await.status, 400);
    assert_eq!(two.migrate(&id, "stowage@a", false).await.status, 400);
    assert_eq!(two.member.delete(&format!("/volumes/{id}")).await.status, 400);
    assert_eq!(act(&two.operator, &id, "os-force_delete", json!({})).await.status, 400);
    let offer = json!({ "transfer": { "volume_id": id } });
    assert_eq!(two.member.post("/os-volume-transfer", offer).await.status, 400);
    two.hand.release();
    two.until_moved(&id, "success").await;
}

#[tokio::test]
async fn who_attaches_a_volume_that_moves_gets_it_where_it_was() {
    let two = Two::start().await;
    let id = anywhere(&two).await;
    let from = two.shown(&id).await["os-vol-host-attr:host"].clone();
    two.hand.hold();
    two.migrate(&id, other(&from), false).await.expect(202);
    two.until_copying().await;
    let attachment = reserve(&two.member, &id, None).await;
    // the connect waits for the move to end, which it does for this
    connect(&two.member, &attachment, "c1").await.expect(200);
    let v = two.shown(&id).await;
    assert_eq!((&v["migration_status"], &v["os-vol-host-attr:host"]), (&json!("error"), &from));
    detach(&two.member, &attachment).await.expect(200);
    if from == "stowage@a#p1" { two.hold(&[&id], &[]).await } else { two.hold(&[], &[&id]).await }
}

/// The array that makes its next volume in an hour.
fn is_slow(array: &Array) {
    array.fault("create", Fault::Takes(Duration::from_secs(3600)));
}

/// Until the move of the volume waits for such an array.
async fn until_it_waits(two: &Two, id: &str) {
    let admin = two.site.app.admin(support::Persona::Admin).await;
    let waits = |a: &support::Answer| a.body()["jobs"][0]["reason"] == "the back end makes the new object";
    admin.until(&format!("/jobs?kind=volume.migrate&resource_id={id}"), waits).await;
}

/// A volume whose retype waits.
async fn stuck(two: &Two) -> String {
    let id = two.volume().await;
    is_slow(&two.b);
    two.retype(&id, "on-demand").await.expect(202);
    until_it_waits(two, &id).await;
    id
}

#[tokio::test]
async fn a_move_that_was_ended_ends_at_once_whatever_it_waits_for() {
    let two = Two::start().await;
    let id = stuck(&two).await;
    act(&two.operator, &id, "os-reset_status", json!({ "migration_status": "error" })).await.expect(202);
    two.member.volume_until(&id, "available").await;
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn who_attaches_does_not_wait_for_what_the_move_waits_for() {
    let two = Two::start().await;
    let id = stuck(&two).await;
    act(&two.operator, &id, "os-reset_status", json!({ "status": "available" })).await.expect(202);
    let attachment = reserve(&two.member, &id, None).await;
    connect(&two.member, &attachment, "c1").await.expect(200);
    detach(&two.member, &attachment).await.expect(200);
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn until_its_job_has_ended_a_volume_whose_move_was_ended_is_left_alone_and_does_not_move_again() {
    let two = Two::start().await;
    let id = anywhere(&two).await;
    let from = two.shown(&id).await["os-vol-host-attr:host"].clone();
    is_slow(if other(&from) == "stowage@a" { two.a() } else { &two.b });
    two.migrate(&id, other(&from), false).await.expect(202);
    until_it_waits(&two, &id).await;
    // what whoever ends a move writes, without its job being told
    let mut tx = two.site.app.app().store.begin().await.unwrap();
    assert!(tx.volume_tell(&id, None, None, Some(Some("error")), 1).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(act(&two.member, &id, "os-extend", json!({ "new_size": 9 })).await.status, 400);
    assert_eq!(two.retype(&id, "on-demand").await.status, 400);
    assert_eq!(two.migrate(&id, "stowage@b#p1", false).await.status, 400);
    assert_eq!(two.member.delete(&format!("/volumes/{id}")).await.status, 400);
    assert_eq!(act(&two.operator, &id, "os-force_delete", json!({})).await.status, 400);
    assert_eq!(two.member.post("/snapshots", json!({ "snapshot": { "volume_id": id } })).await.status, 400);
    let again = act(&two.operator, &id, "os-reset_status", json!({ "migration_status": "migrating" })).await;
    assert!(again.fault(400).contains("does not move any more"));
    act(&two.operator, &id, "os-reset_status", json!({ "migration_status": "error" })).await.expect(202);
    let ended = async || two.site.app.app().store.volume(&id).await.unwrap().unwrap().migration_job.is_none();
    two.site.until("the job to end", &ended).await;
    assert_eq!(two.shown(&id).await["os-vol-host-attr:host"], from);
    if from == "stowage@a#p1" {
        two.hold(&[&id], &[]).await
    } else {
        two.hold(&[], &[&id]).await
    }
    two.migrate(&id, other(&from), false).await.expect(202);
    two.until_moved(&id, "success").await;
}

#[tokio::test]
async fn an_operator_ends_a_move_by_resetting_it() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.hand.hold();
    two.retype(&id, "on-demand").await.expect(202);
    two.until_copying().await;
    act(&two.operator, &id, "os-reset_status", json!({ "migration_status": "none" })).await.expect(202);
    two.member.volume_until(&id, "available").await;
    assert_eq!(two.shown(&id).await["migration_status"], Value::Null);
    assert_eq!(two.site.used(&two.member, "volumes_b").await, 0);
    two.hand.release();
    two.is_what_it_was(&id).await;
}
