//! A volume that goes to another pool: what it is in the end, whatever happens on the way, and that nothing stays behind.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use stowage::{
    config::{Config, CopyConfig},
    copy::{Copier, CopyError, Order, Progress},
    driver::{ErrorKind, capability::Capacity, types::ConnectionTarget},
};
use support::Client;
use tokio::sync::Notify;

use crate::{
    array::{Array, Fault, pool},
    site::{Site, attach, connect, create, detach, reserve, uuid},
    snapshots::snapshot,
    volume_actions::{act, quota_is_true},
};

/// Copies between the tests' arrays. It sees what a real one would: two targets, by their names, under one initiator.
struct Hand {
    arrays: Vec<Arc<Array>>,
    begun: AtomicUsize,
    /// The next copies fail.
    fail: AtomicUsize,
    held: AtomicBool,
    go: Notify,
}

impl Hand {
    fn hold(&self) {
        self.held.store(true, Ordering::SeqCst);
    }
    fn release(&self) {
        self.held.store(false, Ordering::SeqCst);
        self.go.notify_waiters();
    }
    fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }
    /// The array that has the volume of this target, and exports it to somebody.
    fn find(&self, target: &ConnectionTarget) -> (Arc<Array>, String) {
        let ConnectionTarget::Iscsi(iscsi) = target else { panic!("{target:?}") };
        let id = iscsi.targets[0].iqn.rsplit(':').next().unwrap().to_owned();
        let array = self.arrays.iter().find(|a| a.volumes().contains(&id)).unwrap_or_else(|| panic!("no array has {id}"));
        assert_eq!(array.hosts_of(&id).len(), 1, "exported to this service and nobody else");
        (Arc::clone(array), id)
    }
}

impl Copier for Hand {
    fn copy<'a>(
        &'a self,
        order: &'a Order,
        _: &'a CopyConfig,
        progress: &'a (dyn Fn(Progress) + Send + Sync),
    ) -> BoxFuture<'a, Result<(), CopyError>> {
        Box::pin(async move {
            self.begun.fetch_add(1, Ordering::SeqCst);
            assert_eq!(order.from.initiator, order.to.initiator);
            progress(Progress { verifying: false, percent: 42 });
            loop {
                let go = self.go.notified();
                tokio::pin!(go);
                go.as_mut().enable();
                if !self.held.load(Ordering::SeqCst) {
                    break;
                }
                go.await;
            }
            if self.fail.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok() {
                let said = "told to fail".to_owned();
                return Err(CopyError::Failed { program: "hand".to_owned(), status: "1".to_owned(), said });
            }
            let ((from, source), (to, target)) = (self.find(&order.from.connection.target), self.find(&order.to.connection.target));
            to.write(&target, &from.content(&source));
            Ok(())
        })
    }
}

/// A service with two arrays, `stowage@a` and `stowage@b`, a type for each, and volumes on the first.
struct Two {
    site: Site,
    b: Arc<Array>,
    hand: Arc<Hand>,
    member: Client,
    operator: Client,
}

impl Two {
    async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    async fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let site = Site::start_with(change).await;
        let b = Array::new(&["p1"]);
        site.serve("stowage@b", &b).await;
        let arrays = vec![Arc::clone(&site.array), Arc::clone(&b)];
        let hand = Arc::new(Hand { arrays, begun: 0.into(), fail: 0.into(), held: false.into(), go: Notify::new() });
        site.app.app().copies.replace(hand.clone());
        let (member, operator) = (site.member().await, site.operator().await);
        for name in ["a", "b"] {
            let body = json!({ "volume_type": { "name": name, "extra_specs": { "volume_backend_name": name } } });
            operator.post("/types", body).await.expect(200);
        }
        Self { site, b, hand, member, operator }
    }

    fn a(&self) -> &Arc<Array> {
        &self.site.array
    }
    async fn volume(&self) -> String {
        self.site.volume_with(json!({ "volume_type": "a", "size": 3 })).await
    }
    async fn retype(&self, id: &str, policy: &str) -> support::Answer {
        act(&self.member, id, "os-retype", json!({ "new_type": "b", "migration_policy": policy })).await
    }
    async fn migrate(&self, id: &str, host: &str, lock: bool) -> support::Answer {
        let ask = json!({ "host": host, "force_host_copy": false, "lock_volume": lock });
        act(&self.operator, id, "os-migrate_volume", ask).await
    }
    async fn shown(&self, id: &str) -> Value {
        self.operator.get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone()
    }
    /// As an operator sees it when its move has ended in this way.
    async fn until_moved(&self, id: &str, migration: &str) -> Value {
        let ended = |a: &support::Answer| a.body()["volume"]["migration_status"] == migration;
        self.operator.until(&format!("/volumes/{id}"), ended).await.body()["volume"].clone()
    }
    async fn until_copying(&self) {
        self.site.until("the copy to begin", || async { self.hand.begun() > 0 }).await;
    }
    async fn until_told(&self, id: &str) -> String {
        let path = format!("/messages?resource_uuid={id}");
        let told = self.member.at("3.5").until(&path, |a| a.body()["messages"][0].is_object()).await.body();
        told["messages"][0]["user_message"].as_str().unwrap().to_owned()
    }
    /// In the end the arrays hold these objects and nobody is connected to them.
    async fn hold(&self, a: &[&str], b: &[&str]) {
        let sorted = |ids: &[&str]| {
            let mut ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            ids.sort();
            ids
        };
        let (a, b) = (sorted(a), sorted(b));
        self.site.until("the arrays to hold what they should", || async { self.a().volumes() == a && self.b.volumes() == b }).await;
        for (array, ids) in [(self.a(), &a), (&self.b, &b)] {
            self.site.until("nobody to be connected", || async { ids.iter().all(|id| array.hosts_of(id).is_empty()) }).await;
        }
        quota_is_true(&self.site).await;
    }
    /// Where the volume's room is taken, and that there is none beside it.
    async fn lies_on(&self, id: &str, pool: &str, name_id: Option<&str>) {
        let store = &self.site.app.app().store;
        let allocation = store.allocation(id).await.unwrap().unwrap();
        assert_eq!((allocation.pool.as_str(), allocation.gib), (pool, 3));
        if let Some(name_id) = name_id {
            assert_eq!(store.allocation(name_id).await.unwrap(), None);
        }
    }
    /// The volume is as if nothing had been asked for.
    async fn is_what_it_was(&self, id: &str) {
        let v = self.shown(id).await;
        assert_eq!((&v["status"], &v["volume_type"]), (&json!("available"), &json!("a")));
        assert_eq!((&v["os-vol-host-attr:host"], &v["os-vol-mig-status-attr:name_id"]), (&json!("stowage@a#p1"), &Value::Null));
        self.hold(&[id], &[]).await;
        self.lies_on(id, "stowage@a#p1", None).await;
        // nothing stands in the way of trying again
        self.retype(id, "on-demand").await.expect(202);
        self.until_moved(id, "success").await;
    }
}

fn name_id(volume: &Value) -> String {
    volume["os-vol-mig-status-attr:name_id"].as_str().unwrap().to_owned()
}

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
async fn a_driver_that_refuses_to_make_the_new_volume_is_heard_though_no_other_pool_is_left() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.b.fault("create", Fault::Refuse(ErrorKind::Exhausted));
    two.retype(&id, "on-demand").await.expect(202);
    let told = two.until_told(&id).await;
    assert!(!told.contains("No storage back end"), "{told}");
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn a_retype_on_demand_takes_the_volume_and_its_bytes_to_another_back_end() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.a().write(&id, "precious");
    two.hand.hold();
    two.retype(&id, "on-demand").await.expect(202);
    two.until_copying().await;
    let v = two.shown(&id).await;
    assert_eq!((&v["status"], &v["volume_type"], &v["migration_status"]), (&json!("retyping"), &json!("a"), &json!("migrating")));
    assert!(two.member.get(&format!("/volumes/{id}")).await.expect(200)["volume"].get("migration_status").is_none());
    // both types count meanwhile
    assert_eq!((two.site.used(&two.member, "gigabytes_a").await, two.site.used(&two.member, "gigabytes_b").await), (3, 3));
    quota_is_true(&two.site).await;
    two.hand.release();
    let v = two.until_moved(&id, "success").await;
    assert_eq!((&v["status"], &v["volume_type"]), (&json!("available"), &json!("b")));
    assert_eq!((&v["os-vol-host-attr:host"], &v["os-vol-mig-status-attr:migstat"]), (&json!("stowage@b#p1"), &json!("success")));
    assert_eq!(v["id"], json!(id));
    let new = name_id(&v);
    assert_eq!(two.b.content(&new), "precious");
    two.hold(&[], &[&new]).await;
    two.lies_on(&id, "stowage@b#p1", Some(&new)).await;
    let shown = two.operator.at("3.48").get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone();
    let services = two.operator.get("/os-services").await.expect(200);
    assert!(services["services"].as_array().unwrap().iter().any(|s| s["host"] == "stowage@b"));
    assert_eq!(shown["provider_id"], json!(format!("lun-{new}")));
    let row = two.site.app.app().store.volume(&id).await.unwrap().unwrap();
    let backend = two.site.app.app().store.backend("stowage@b").await.unwrap().unwrap();
    assert_eq!((row.service_uuid, row.backend_name), (Some(backend.service_uuid), Some(backend.backend_name)));
}

#[tokio::test]
async fn drivers_know_a_volume_that_moved_by_its_new_name() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.retype(&id, "on-demand").await.expect(202);
    let new = name_id(&two.until_moved(&id, "success").await);
    let attachment = attach(&two.member, &id, "c1").await;
    assert_eq!(two.b.hosts_of(&new), ["c1"]);
    detach(&two.member, &attachment).await.expect(200);
    let s = snapshot(&two.member, &id).await;
    two.member.delete(&format!("/snapshots/{s}")).await.expect(202);
    two.member.until_gone(&format!("/snapshots/{s}")).await;
    act(&two.member, &id, "os-extend", json!({ "new_size": 5 })).await.expect(202);
    two.member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["size"] == 5).await;
    assert_eq!(two.b.size(&new), Some(5));
    two.member.delete(&format!("/volumes/{id}")).await.expect(202);
    two.member.until_gone(&format!("/volumes/{id}")).await;
    two.hold(&[], &[]).await;
}

#[tokio::test]
async fn a_driver_that_would_have_to_copy_gets_a_new_object_on_the_same_back_end() {
    let two = Two::start().await;
    let body = json!({ "volume_type": { "name": "gold", "extra_specs": { "volume_backend_name": "a", "vendor:tier": "gold" } } });
    two.operator.post("/types", body).await.expect(200);
    let id = two.volume().await;
    two.a().write(&id, "precious");
    // the fixture's word for "needs migration"
    two.a().fault("retype", Fault::Pending(0));
    act(&two.member, &id, "os-retype", json!({ "new_type": "gold", "migration_policy": "on-demand" })).await.expect(202);
    let v = two.until_moved(&id, "success").await;
    assert_eq!((&v["volume_type"], &v["os-vol-host-attr:host"]), (&json!("gold"), &json!("stowage@a#p1")));
    let new = name_id(&v);
    assert_ne!(new, id);
    two.hold(&[&new], &[]).await;
    assert_eq!(two.a().content(&new), "precious");
    two.lies_on(&id, "stowage@a#p1", Some(&new)).await;
}

#[tokio::test]
async fn a_driver_without_the_verb_is_helped_by_a_copy_if_that_was_permitted() {
    let two = Two::start().await;
    let body = json!({ "volume_type": { "name": "gold", "extra_specs": { "volume_backend_name": "a", "vendor:tier": "gold" } } });
    two.operator.post("/types", body).await.expect(200);
    two.a().lacks("volume-retype");
    two.site.serve("stowage@a", two.a()).await;
    let id = two.volume().await;
    act(&two.member, &id, "os-retype", json!({ "new_type": "gold", "migration_policy": "never" })).await.expect(202);
    assert!(two.until_told(&id).await.starts_with("retype volume:"));
    two.member.volume_until(&id, "available").await;
    assert_eq!(two.hand.begun(), 0);
    act(&two.member, &id, "os-retype", json!({ "new_type": "gold", "migration_policy": "on-demand" })).await.expect(202);
    assert_eq!(two.until_moved(&id, "success").await["volume_type"], "gold");
}

#[tokio::test]
async fn what_cannot_be_copied_is_refused_with_a_reason() {
    let two = Two::start().await;
    let id = two.volume().await;
    assert!(two.retype(&id, "never").await.fault(400).contains("the migration policy is never"));
    let attachment = attach(&two.member, &id, "c1").await;
    assert!(two.retype(&id, "on-demand").await.fault(400).contains("is attached"));
    assert!(two.migrate(&id, "stowage@b#p1", false).await.fault(400).contains("is attached"));
    detach(&two.member, &attachment).await.expect(200);
    let s = snapshot(&two.member, &id).await;
    assert!(two.retype(&id, "on-demand").await.fault(400).contains("must not have snapshots"));
    assert!(two.migrate(&id, "stowage@b#p1", false).await.fault(400).contains("must not have snapshots"));
    two.member.delete(&format!("/snapshots/{s}")).await.expect(202);
    two.member.until_gone(&format!("/snapshots/{s}")).await;
    assert!(two.migrate(&id, "stowage@a#p1", false).await.fault(400).contains("different than the current one"));
    for nowhere in ["stowage@none#p1", "else@b#p1", "stowage", "stowage@b#nope", "stowage@b#", "stowage@b#p1#x"] {
        assert!(two.migrate(&id, nowhere, false).await.fault(400).contains("No available service named"), "{nowhere}");
    }
    let ask = json!({ "cluster": "c" });
    assert!(act(&two.operator.at("3.16"), &id, "os-migrate_volume", ask.clone()).await.fault(400).contains("No available service"));
    for bad in [json!({}), ask, json!({ "host": "stowage@b", "lock_volume": "maybe" }), json!({ "host": "stowage@b", "x": 1 })] {
        assert_eq!(act(&two.operator.at("3.15"), &id, "os-migrate_volume", bad.clone()).await.status, 400, "{bad}");
    }
    assert_eq!(act(&two.member, &id, "os-migrate_volume", json!({ "host": "stowage@b" })).await.status, 403);
    assert_eq!(two.migrate(&uuid(), "stowage@b", false).await.status, 404);
    two.operator.put("/os-services/disable", json!({ "binary": "cinder-volume", "host": "stowage@b" })).await.expect(200);
    assert!(two.migrate(&id, "stowage@b#p1", false).await.fault(400).contains("No available service"));
}

/// A type that any back end takes.
async fn anywhere(two: &Two) -> String {
    let id = create(&two.member, json!({ "size": 3 })).await;
    two.member.volume_until(&id, "available").await;
    id
}

fn other(host: &Value) -> &'static str {
    if *host == "stowage@a#p1" { "stowage@b" } else { "stowage@a" }
}

#[tokio::test]
async fn an_operator_sends_a_volume_to_a_back_end_and_back_again() {
    let two = Two::start().await;
    let id = anywhere(&two).await;
    let mut names = vec![id.clone()];
    for lock in [false, true] {
        let to = other(&two.shown(&id).await["os-vol-host-attr:host"]);
        two.migrate(&id, to, lock).await.expect(202);
        let v = two
            .operator
            .until(&format!("/volumes/{id}"), |a| a.body()["volume"]["os-vol-host-attr:host"] == format!("{to}#p1"))
            .await
            .body()["volume"]
            .clone();
        assert_eq!(
            (&v["status"], &v["migration_status"], &v["volume_type"]),
            (&json!("available"), &json!("success"), &json!("__DEFAULT__"))
        );
        assert!(!names.contains(&name_id(&v)), "every object has a name of its own");
        names.push(name_id(&v));
        let new = names.last().unwrap().as_str();
        if to == "stowage@a" {
            two.hold(&[new], &[]).await
        } else {
            two.hold(&[], &[new]).await
        }
        two.lies_on(&id, &format!("{to}#p1"), Some(new)).await;
    }
}

#[tokio::test]
async fn a_locked_volume_is_in_maintenance_and_nothing_else_is_done_to_it() {
    let two = Two::start().await;
    let id = anywhere(&two).await;
    let to = other(&two.shown(&id).await["os-vol-host-attr:host"]);
    two.hand.hold();
    two.migrate(&id, to, true).await.expect(202);
    two.until_copying().await;
    assert_eq!(two.shown(&id).await["status"], "maintenance");
    let body = json!({ "attachment": { "volume_uuid": id, "instance_uuid": uuid() } });
    assert_eq!(two.member.at("3.44").post("/attachments", body).await.status, 400);
    assert_eq!(two.migrate(&id, to, true).await.status, 400);
    assert_eq!(two.member.delete(&format!("/volumes/{id}")).await.status, 400);
    two.hand.release();
    assert_eq!(two.until_moved(&id, "success").await["status"], "available");
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
async fn a_move_that_connects_again_and_again_knows_only_the_last_connections() {
    let two = Two::start().await;
    let id = two.volume().await;
    for _ in 0..2 {
        two.b.fault("connect", Fault::Refuse(ErrorKind::Transient));
    }
    two.hand.hold();
    two.retype(&id, "on-demand").await.expect(202);
    two.until_copying().await;
    assert_eq!(two.a().count("connect"), 3);
    assert_eq!(two.a().hosts_of(&id).len(), 1);
    let new = two.b.volumes().pop().unwrap();
    assert_eq!((two.b.count("connect"), two.b.hosts_of(&new).len()), (3, 1));
    two.hand.release();
    two.until_moved(&id, "success").await;
    two.hold(&[], &[&new]).await;
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

#[tokio::test]
async fn a_copy_that_keeps_failing_leaves_the_volume_as_it_was_with_a_message() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.hand.fail.store(3, Ordering::SeqCst);
    two.retype(&id, "on-demand").await.expect(202);
    assert!(two.until_told(&id).await.contains("Copying the volume failed"));
    assert_eq!(two.hand.begun(), 3);
    two.until_moved(&id, "error").await;
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn a_copy_that_fails_once_is_begun_again_under_another_name() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.hand.fail.store(1, Ordering::SeqCst);
    two.retype(&id, "on-demand").await.expect(202);
    two.until_moved(&id, "success").await;
    let mut initiators: Vec<String> = two.b.ends("connect");
    assert_eq!(initiators.len(), 2, "{initiators:?}");
    initiators.dedup();
    assert_eq!(initiators.len(), 2, "a run that was given up knows no name that still counts");
}

#[tokio::test]
async fn a_full_destination_leaves_the_volume_as_it_was_with_a_message() {
    let two = Two::start().await;
    let id = two.volume().await;
    let sized = |gib: f64| {
        two.b.report(|r| {
            r.pools = vec![pool("p1")];
            r.pools[0].total = Capacity::Gib(gib);
            r.pools[0].free = Capacity::Gib(gib);
        });
    };
    sized(2.0);
    two.site.serve("stowage@b", &two.b).await;
    two.retype(&id, "on-demand").await.expect(202);
    let told = two.until_told(&id).await;
    assert!(told.starts_with("retype volume:Could not find any available weighted backend."), "{told}");
    two.until_moved(&id, "error").await;
    assert_eq!(two.b.count("create"), 0);
    sized(100.0);
    two.site.serve("stowage@b", &two.b).await;
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn a_destination_that_refuses_leaves_the_volume_as_it_was_and_holds_nothing() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.b.fault("create", Fault::Refuse(ErrorKind::Exhausted));
    two.retype(&id, "on-demand").await.expect(202);
    two.until_told(&id).await;
    two.until_moved(&id, "error").await;
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn lost_answers_on_the_way_are_asked_for_again() {
    let two = Two::start().await;
    let id = two.volume().await;
    for verb in ["create", "connect", "disconnect"] {
        two.b.fault(verb, Fault::LoseAnswer(ErrorKind::Deadline));
    }
    two.a().fault("delete", Fault::LoseAnswer(ErrorKind::Deadline));
    two.retype(&id, "on-demand").await.expect(202);
    let new = name_id(&two.until_moved(&id, "success").await);
    two.hold(&[], &[&new]).await;
}

#[tokio::test]
async fn back_ends_that_refuse_to_connect_leave_nothing_behind() {
    for which in ["a", "b"] {
        let two = Two::start().await;
        let id = two.volume().await;
        let array = if which == "a" { two.a() } else { &two.b };
        array.fault("connect", Fault::Refuse(ErrorKind::Unsupported));
        two.retype(&id, "on-demand").await.expect(202);
        two.until_told(&id).await;
        two.until_moved(&id, "error").await;
        two.is_what_it_was(&id).await;
    }
}

#[tokio::test]
async fn a_compute_service_that_swapped_two_volumes_is_told_which_stays() {
    let two = Two::start().await;
    let (old, new) = (anywhere(&two).await, anywhere(&two).await);
    let completion = async |id: &str, new: Value| act(&two.operator, id, "os-migrate_volume_completion", new).await;
    let ask = json!({ "new_volume": new, "error": false });
    assert_eq!(completion(&old, ask.clone()).await.expect(200), json!({ "save_volume_id": new }));
    assert_eq!(act(&two.member, &old, "os-migrate_volume_completion", ask.clone()).await.status, 403);
    assert_eq!(completion(&old, json!({ "new_volume": uuid() })).await.status, 404);
    assert_eq!(completion(&old, json!({ "new_volume": "x" })).await.status, 400);
    act(&two.operator, &old, "os-reset_status", json!({ "migration_status": "migrating" })).await.expect(202);
    assert!(completion(&old, ask.clone()).await.fault(400).contains("Destination volume not mid-migration"));
    act(&two.operator, &old, "os-reset_status", json!({ "migration_status": "none" })).await.expect(202);
    act(&two.operator, &new, "os-reset_status", json!({ "migration_status": "migrating" })).await.expect(202);
    assert!(completion(&old, ask).await.fault(400).contains("Source volume not mid-migration"));
}

#[tokio::test]
async fn an_operator_sees_how_far_a_copy_is() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.hand.hold();
    two.retype(&id, "on-demand").await.expect(202);
    let admin = two.site.app.admin(support::Persona::Admin).await;
    let path = format!("/jobs?kind=volume.migrate&resource_id={id}");
    admin.until(&path, |a| a.body()["jobs"][0]["reason"] == "copying, 42 %").await;
    two.hand.release();
    two.until_moved(&id, "success").await;
}
