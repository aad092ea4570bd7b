//! The service with one back end of shares, and what the tests ask of it all the time.

use std::ops::Deref;

use serde_json::{Value, json};
use sqlx::{Connection, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};
use stowage::{
    config::{BackendConfig, Config},
    notify::share_message::user_message,
    store::{
        bind,
        sql::{
            backends::BackendKind,
            messages::{MessageFilter, MessageQuery},
        },
    },
};
use support::{Answer, Client, Persona, TestApp, db::Db, postgres, wait};

/// The newest version.
pub const LATEST: &str = "2.99";

/// A running service whose back end `stowage@m` is the memory driver's share side.
pub struct Site {
    app: TestApp,
    /// After the service: where its rows lie if not in a file of its own.
    _database: Option<postgres::Database>,
}

impl Deref for Site {
    type Target = TestApp;
    fn deref(&self) -> &TestApp {
        &self.app
    }
}

impl Site {
    /// A service that runs already, on a database that somebody else keeps.
    pub fn of(app: TestApp) -> Self {
        Self { app, _database: None }
    }

    pub async fn start() -> Self {
        Self::with(json!({})).await
    }

    /// With more options of the driver.
    pub async fn with(options: Value) -> Self {
        Self::configured(vec![backend("m", options)], |_| {}).await
    }

    /// With a driver that does what `faults` say.
    pub async fn faulty(faults: &[&str]) -> Self {
        Self::with(json!({ "faults": faults })).await
    }

    /// On SQLite, or where `STOWAGE_TEST_DATABASES` wants PostgreSQL alone, on that.
    pub async fn configured(backends: Vec<BackendConfig>, change: impl FnOnce(&mut Config)) -> Self {
        let mut builder = TestApp::builder().backends(backends).config(change);
        let mut database = None;
        if std::env::var("STOWAGE_TEST_DATABASES").is_ok_and(|wanted| wanted == "postgres") {
            let empty = postgres::database().await;
            builder = builder.database(&empty.url);
            database = Some(empty);
        }
        let site = Self { app: builder.start().await, _database: database };
        site.reported().await;
        site
    }

    /// With these back ends, on a database that the test keeps.
    pub async fn on(db: &Db, backends: Vec<BackendConfig>, change: impl FnOnce(&mut Config)) -> Self {
        let builder = TestApp::builder().backends(backends).config(change);
        let builder = if db.is_postgres() { builder.database(db.options.url.clone()) } else { builder };
        let site = Self::of(builder.start().await);
        site.reported().await;
        site
    }

    /// Waits until every back end has reported.
    async fn reported(&self) {
        let site = self;
        let names: Vec<String> = site.app().config.get().backends.iter().map(|b| format!("stowage@{}", b.name)).collect();
        support::wait::until("the first reports", || async {
            let rows = site.app().store.backends(None).await.unwrap();
            let reported = |name: &String| rows.iter().any(|r| r.host == *name && r.reported_at.is_some());
            names.iter().all(reported).then_some(())
        })
        .await;
    }

    /// The same service, ended in order and started again.
    pub async fn restarted(self) -> Self {
        Self { app: self.app.restart().await, _database: self._database }
    }

    pub async fn member(&self) -> Client {
        self.share(Persona::Member).await.at(LATEST)
    }
    pub async fn stranger(&self) -> Client {
        self.share(Persona::Stranger).await.at(LATEST)
    }
    pub async fn operator(&self) -> Client {
        self.share(Persona::Admin).await.at(LATEST)
    }

    /// An available share of 1 GiB; its id.
    pub async fn available(&self) -> String {
        self.available_with(json!({})).await
    }
    /// An available share with more members; its id.
    pub async fn available_with(&self, members: Value) -> String {
        let member = self.member().await;
        let id = create(&member, members).await;
        member.share_until(&id, "available").await;
        id
    }

    /// A new type with these extra specs beside the required one; its id.
    pub async fn share_type(&self, name: &str, specs: Value) -> String {
        let mut all = json!({ "driver_handles_share_servers": "False" });
        all.as_object_mut().unwrap().extend(specs.as_object().unwrap().clone());
        let body = json!({ "share_type": { "name": name, "extra_specs": all } });
        text(&self.operator().await.post("/types", body).await.expect(200)["share_type"]["id"])
    }

    /// What the project of `client` uses of a share resource.
    pub async fn used(&self, client: &Client, resource: &str) -> i64 {
        let usage = self.app().store.quota_usage(&client.project_id).await.unwrap();
        usage.iter().find(|u| u.resource == format!("share:{resource}")).map_or(0, |u| u.used)
    }

    /// What users read about a resource.
    pub async fn messages(&self, id: &str) -> Vec<String> {
        let filters = vec![MessageFilter::Equals("resource_id", bind::Value::from(id))];
        let query = MessageQuery { service: BackendKind::Share, filters, limit: 100, ..MessageQuery::default() };
        let rows = self.app().store.messages(&query).await.unwrap();
        rows.iter().map(|m| user_message(&m.action_id, &m.detail_id, &m.extra)).collect()
    }

    /// What counts as allocated in the pool of `stowage@m`.
    pub async fn allocated(&self) -> i64 {
        self.app().store.pools_of("stowage@m").await.unwrap().iter().map(|p| p.allocated_gib).sum()
    }

    /// Changes rows as no call would.
    pub async fn sql(&self, sql: &'static str) {
        let url = self.app().config.get().database_url();
        if url.starts_with("postgres") {
            let mut db = PgConnection::connect(&url).await.unwrap();
            sqlx::query(sql).execute(&mut db).await.unwrap();
            return db.close().await.unwrap();
        }
        let file = url.trim_start_matches("sqlite:").trim_start_matches("//");
        let options = SqliteConnectOptions::new().filename(file).busy_timeout(wait::PATIENCE);
        let mut db = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::query(sql).execute(&mut db).await.unwrap();
        db.close().await.unwrap();
    }

    /// Does what an operator would: gives the share this status.
    pub async fn tell(&self, id: &str, status: &str) {
        self.operator().await.post(&action(id), json!({ "reset_status": { "status": status } })).await.expect(202);
    }
}

pub fn backend(name: &str, options: Value) -> BackendConfig {
    let mut backend = BackendConfig::of_shares(name, "memory");
    let mut all = json!({ "pools": ["p1:1000"], "share_protocols": ["nfs", "cifs"] });
    all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    backend.options = all.as_object().unwrap().clone();
    backend
}

/// A share of 1 GiB, accepted; its id.
pub async fn create(client: &Client, members: Value) -> String {
    text(&try_create(client, members).await.expect(200)["share"]["id"])
}

/// What the service answers to a create of 1 GiB.
pub async fn try_create(client: &Client, members: Value) -> Answer {
    let mut share = json!({ "share_proto": "NFS", "size": 1 });
    share.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    client.post("/shares", json!({ "share": share })).await
}

/// A rule, accepted; its id.
pub async fn allow(client: &Client, share: &str, to: &str) -> String {
    text(
        &client.post(&action(share), json!({ "allow_access": { "access_type": "ip", "access_to": to } })).await.expect(200)["access"]["id"],
    )
}

/// What the service answers to a snapshot of this share.
pub async fn try_snapshot(client: &Client, share: &str, members: Value) -> Answer {
    let mut snapshot = json!({ "share_id": share });
    snapshot.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    client.post("/snapshots", json!({ "snapshot": snapshot })).await
}

/// A snapshot of this share that is available; its id.
pub async fn snapshot(client: &Client, share: &str) -> String {
    let id = text(&try_snapshot(client, share, json!({})).await.expect(202)["snapshot"]["id"]);
    snapshot_until(client, &id, "available").await;
    id
}

/// Shows a snapshot until it has `status`.
pub async fn snapshot_until(client: &Client, id: &str, status: &str) -> Value {
    let answer = client
        .until(&format!("/snapshots/{id}"), |a| {
            let found = a.body()["snapshot"]["status"].as_str().unwrap_or_default().to_owned();
            assert!(found == status || !found.starts_with("error"), "the snapshot is {found}, not {status}: {a:?}");
            found == status
        })
        .await;
    answer.body()["snapshot"].clone()
}

/// Where a snapshot's actions are.
pub fn snapshot_action(id: &str) -> String {
    format!("/snapshots/{id}/action")
}

/// Where a share's actions are.
pub fn action(id: &str) -> String {
    format!("/shares/{id}/action")
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Any UUID.
pub fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The names of an object's members, sorted.
pub fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap_or_else(|| panic!("no object: {value}")).keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
