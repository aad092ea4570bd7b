//! Share servers on their way to another back end: two of these, and a share with a snapshot and a rule on a server of the first.

use serde_json::{Value, json};
use stowage::config::BackendConfig;
use support::{Answer, Client, db::Db};

use crate::{
    live::rule_until,
    net,
    served::{self, create_with, one, paths, servers, site_with},
    site::{Site, allow, snapshot, snapshot_until, text},
};

pub const HERE: &str = "stowage@m";
pub const THERE: &str = "stowage@n";
/// Shares of it have snapshots.
pub const KEPT: &str = "kept";

/// A service with `m`, to which new shares come, and `n` with these options.
pub async fn site(db: &Db, of_n: Value) -> Site {
    between(db, servers("m", json!({})), n(of_n)).await
}

/// The second back end: smaller, so that new shares come to the first.
pub fn n(options: Value) -> BackendConfig {
    let mut small = json!({ "pools": ["p1:100"] });
    small.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    servers("n", small)
}

/// Another database of the same kind, for one of several services of a test.
pub async fn fresh(db: &Db) -> Db {
    if db.is_postgres() { Db::postgres().await } else { Db::sqlite().await }
}

pub async fn between(db: &Db, from: BackendConfig, to: BackendConfig) -> Site {
    let site = site_with(db, vec![from, to], |_| {}).await;
    site.share_type(KEPT, json!({ "driver_handles_share_servers": "True", "snapshot_support": "True" })).await;
    site
}

pub async fn experimental(site: &Site) -> Client {
    site.operator().await.with_header("X-OpenStack-Manila-API-Experimental", "True")
}

/// A call about a server's migration.
pub async fn ask(client: &Client, server: &str, verb: &str, inner: Value) -> Answer {
    client.post(&format!("{}/action", one(server)), json!({ verb: inner })).await
}

/// What is asked for, with these members changed.
pub fn to(host: &str, members: Value) -> Value {
    let mut all = json!({ "host": host, "writable": true, "nondisruptive": false, "preserve_snapshots": true });
    all.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    all
}

/// What moves, where it is.
pub struct Moving {
    pub network: String,
    pub share: String,
    pub snapshot: Option<String>,
    pub rule: String,
    pub server: String,
    /// As users mount it.
    pub paths: Vec<String>,
    /// Quota, addresses and room of `m` before anything began.
    figures: Figures,
    operator: Client,
    member: Client,
}

#[derive(Debug, PartialEq)]
struct Figures {
    quota: Vec<(String, i64)>,
    addresses: usize,
    here: i64,
    there: i64,
}

impl Site {
    /// What counts as allocated in the pools of a back end.
    pub async fn allocated_on(&self, host: &str) -> i64 {
        self.app().store.pools_of(host).await.unwrap().iter().map(|p| p.allocated_gib).sum()
    }

    async fn figures(&self, client: &Client) -> Figures {
        let usage = self.app().store.quota_usage(&client.project_id).await.unwrap();
        let mut quota: Vec<(String, i64)> = usage.iter().filter(|u| u.used != 0).map(|u| (u.resource.clone(), u.used)).collect();
        quota.sort_unstable();
        quota.dedup();
        let (here, there) = (self.allocated_on(HERE).await, self.allocated_on(THERE).await);
        Figures { quota, addresses: self.given().await.len(), here, there }
    }
}

impl Moving {
    pub async fn on(site: &Site) -> Self {
        Self::of_type(site, KEPT).await
    }

    /// For back ends that have no snapshots.
    pub async fn without_snapshot(site: &Site) -> Self {
        Self::of_type(site, served::SERVED).await
    }

    async fn of_type(site: &Site, share_type: &str) -> Self {
        let (member, operator) = (site.member().await, experimental(site).await);
        let network = served::network(&member, &["blue"]).await;
        let share = create_with(&member, &network, json!({ "share_type": share_type, "size": 2 })).await;
        member.share_until(&share, "available").await;
        let snapshot = if share_type == KEPT { Some(snapshot(&member, &share).await) } else { None };
        let rule = allow(&member, &share, "10.1.0.200").await;
        rule_until(&member, &rule, "active").await;
        member.until(&format!("/shares/{share}"), |a| a.body()["share"]["access_rules_status"] == "active").await;
        let server = site.only_server(&network).await;
        assert_eq!(operator.get(&one(&server)).await.expect(200)["share_server"]["host"], HERE);
        let (paths, figures) = (paths(&member, &share).await, site.figures(&member).await);
        Self { network, share, snapshot, rule, server, paths, figures, operator, member }
    }

    pub async fn ask(&self, verb: &str, inner: Value) -> Answer {
        ask(&self.operator, &self.server, verb, inner).await
    }

    pub async fn start(&self) {
        self.ask("migration_start", to(THERE, json!({}))).await.expect(202);
    }

    pub async fn until_task(&self, task: &str) {
        self.operator.until(&one(&self.server), |a| a.body()["share_server"]["task_state"] == task).await;
    }

    /// Waits until all is copied; the destination.
    pub async fn copied(&self) -> String {
        self.until_task("migration_driver_phase1_done").await;
        self.destination().await
    }

    pub async fn destination(&self) -> String {
        let filters = format!("source_share_server_id={}&status=server_migrating_to", self.server);
        text(&self.operator.get(&format!("/share-servers?{filters}")).await.expect(200)["share_servers"][0]["id"])
    }

    pub async fn complete(&self) {
        self.ask("migration_complete", Value::Null).await.expect(200);
    }

    /// From the beginning to where only the driver is to be asked to complete it; the destination.
    pub async fn start_and_complete(&self) -> String {
        self.start().await;
        let destination = self.copied().await;
        self.complete().await;
        destination
    }

    /// What must be so when it has moved: everything is there, works there, and nothing counts on the source.
    pub async fn is_there(&self, site: &Site, destination: &str) {
        self.operator.until(&one(destination), |a| a.body()["share_server"]["task_state"] == "migration_success").await;
        let server = self.operator.get(&one(destination)).await.expect(200)["share_server"].clone();
        assert_eq!((&server["status"], &server["host"]), (&json!("active"), &json!(THERE)));
        let share = self.operator.get(&format!("/shares/{}", self.share)).await.expect(200)["share"].clone();
        let (there, id) = (json!(format!("{THERE}#p1")), json!(destination));
        assert_eq!((&share["status"], &share["host"], &share["share_server_id"]), (&json!("available"), &there, &id));
        let now = paths(&self.member, &self.share).await;
        let addresses: Vec<String> = site.addresses(destination).await.into_iter().map(|a| a.ip_address).collect();
        assert!(now.iter().all(|p| addresses.iter().any(|a| p.starts_with(&format!("{a}:/")))), "{now:?} {addresses:?}");
        assert!(!now.is_empty() && now.iter().all(|p| !self.paths.contains(p)), "{now:?}");
        if let Some(snapshot) = &self.snapshot {
            snapshot_until(&self.member, snapshot, "available").await;
        }
        rule_until(&self.member, &self.rule, "active").await;
        self.operator.until_gone(&one(&self.server)).await;
        // an address is given back for each that was given, and what counted there counts here
        let Figures { quota, addresses, here, .. } = &self.figures;
        assert_eq!(site.figures(&self.member).await, Figures { quota: quota.clone(), addresses: *addresses, here: 0, there: *here });
        // the driver there knows the share, its snapshot and its rule
        self.usable(site).await;
    }

    /// As [`is_there`](Self::is_there), of the servers alone.
    pub async fn is_there_only(&self, destination: &str) {
        self.operator.until(&one(destination), |a| a.body()["share_server"]["task_state"] == "migration_success").await;
        self.operator.until_gone(&one(&self.server)).await;
    }

    /// The same, at a service that was started again.
    pub async fn again(self, site: &Site) -> Self {
        Self { operator: experimental(site).await, member: site.member().await, ..self }
    }

    /// Everything can be changed and goes away, and nothing is left.
    pub async fn usable(&self, site: &Site) {
        let action = crate::site::action(&self.share);
        self.member.post(&action, json!({ "deny_access": { "access_id": self.rule } })).await.expect(202);
        self.member.until_gone(&format!("/share-access-rules/{}", self.rule)).await;
        self.member.post(&action, json!({ "extend": { "new_size": 3 } })).await.expect(202);
        self.member.share_until(&self.share, "available").await;
        for path in self.snapshot.iter().map(|s| format!("/snapshots/{s}")).chain([format!("/shares/{}", self.share)]) {
            self.member.delete(&path).await.expect(202);
            self.member.until_gone(&path).await;
        }
        site.delete_server(&site.only_server(&self.network).await).await;
        assert!(site.given().await.is_empty());
        assert_eq!((site.allocated_on(HERE).await, site.allocated_on(THERE).await), (0, 0));
        self.member.delete(&net::path(&self.network)).await.expect(202);
        self.member.until_gone(&net::path(&self.network)).await;
    }

    /// What must be so when it came to nothing: everything is where and what it was, and nothing counts twice.
    pub async fn is_here(&self, site: &Site, task: &str) {
        self.until_task(task).await;
        let server = self.operator.get(&one(&self.server)).await.expect(200)["share_server"].clone();
        assert_eq!((&server["status"], &server["host"]), (&json!("active"), &json!(HERE)));
        let share = self.operator.get(&format!("/shares/{}", self.share)).await.expect(200)["share"].clone();
        assert_eq!((&share["status"], &share["share_server_id"]), (&json!("available"), &json!(self.server)));
        assert_eq!(paths(&self.member, &self.share).await, self.paths);
        if let Some(snapshot) = &self.snapshot {
            snapshot_until(&self.member, snapshot, "available").await;
        }
        rule_until(&self.member, &self.rule, "active").await;
        let pointing = self.operator.get(&format!("/share-servers?source_share_server_id={}", self.server)).await.expect(200);
        assert_eq!(pointing["share_servers"], json!([]));
        let figures = site.figures(&self.member).await;
        assert_eq!((&figures.quota, figures.addresses, figures.here), (&self.figures.quota, self.figures.addresses, self.figures.here));
        // the room there is free when the back end has said so
        support::wait::until("the room to be given back", || async { (site.allocated_on(THERE).await == 0).then_some(()) }).await;
        let tear_downs = stowage::store::sql::jobs::JobFilter { kind: Some("share_server.cleanup".into()), ..Default::default() };
        support::wait::until("the destination to be cleaned up", || async {
            let jobs = site.app().store.list_jobs(&tear_downs, None, 10).await.unwrap();
            jobs.iter().all(|j| j.ended_at.is_some()).then_some(())
        })
        .await;
    }
}
