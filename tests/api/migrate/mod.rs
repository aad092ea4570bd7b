//! A volume that goes to another pool: what it is in the end, whatever happens on the way, and that nothing stays behind.

mod ended;
mod failures;
mod operators;
mod retype;

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use stowage::{
    config::{Config, CopyConfig},
    copy::{Copier, CopyError, Order, Progress},
    driver::types::ConnectionTarget,
};
use support::Client;
use tokio::sync::Notify;

use crate::{
    array::Array,
    site::{Site, create},
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

/// A type that any back end takes.
async fn anywhere(two: &Two) -> String {
    let id = create(&two.member, json!({ "size": 3 })).await;
    two.member.volume_until(&id, "available").await;
    id
}

fn other(host: &Value) -> &'static str {
    if *host == "stowage@a#p1" { "stowage@b" } else { "stowage@a" }
}
