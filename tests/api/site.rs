//! The service with one array, and what the tests ask of it all the time.

use std::{future::Future, ops::Deref, sync::Arc};

use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::Config,
    scheduler::{BackendConfig, BackendKind, dictionary},
};
use support::{Client, Persona, TestApp, db::Db, wait};

use crate::array::Array;

/// Where the arrays' portals are.
const PORTALS: &str = "192.0.2.0/24";

/// A running service whose back end `stowage@a` is an array in this process.
pub struct Site {
    pub app: TestApp,
    pub array: Arc<Array>,
}

impl Deref for Site {
    type Target = TestApp;
    fn deref(&self) -> &TestApp {
        &self.app
    }
}

impl Site {
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    pub async fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let app = TestApp::builder().backends([]).config(change).start().await;
        let array = Array::new(&["p1"]);
        let site = Self { app, array };
        site.serve("stowage@a", &site.array).await;
        site
    }

    /// As [`Site::start`], over a database of the test's.
    pub async fn on(db: &Db) -> Self {
        let url = db.options.url.clone();
        Self::start_with(|c| {
            // a SQLite file has one process, which has it open: then a fresh one will do
            if db.is_postgres() {
                c.database.url = url;
            }
        })
        .await
    }

    /// Brings an array into service, or its changed report.
    pub async fn serve(&self, host: &str, array: &Arc<Array>) {
        self.serve_configured(host, array, |_| {}).await;
    }

    /// As [`Site::serve`], of a back end that has this `backend_id`.
    pub async fn serve_as(&self, host: &str, array: &Arc<Array>, backend_id: Option<&str>) {
        self.serve_configured(host, array, |c| c.backend_id = backend_id.unwrap_or_default().to_owned()).await;
    }

    /// The same, with something in the back end's section of the configuration.
    pub async fn serve_configured(&self, host: &str, array: &Arc<Array>, change: impl FnOnce(&mut stowage::config::BackendConfig)) {
        let app = self.app.app();
        let mut backend = Arc::into_inner(array.backend(host)).unwrap();
        Arc::make_mut(&mut backend.config).grants.portals = vec![PORTALS.to_owned()];
        change(Arc::make_mut(&mut backend.config));
        let backend = Arc::new(backend);
        let row = BackendConfig {
            host: host.into(),
            kind: BackendKind::Block,
            driver: "array".into(),
            backend_id: Some(backend.config.backend_id.clone()).filter(|id| !id.is_empty()),
            availability_zone: "nova".into(),
            capacity_group: None,
            disabled: false,
        };
        let began_at = app.store.now().await.unwrap();
        let report = backend.refresh(&stowage::driver::Call::internal("report", std::time::Duration::from_secs(5))).await.unwrap();
        let mut tx = app.store.begin().await.unwrap();
        tx.configure_backend(&row).await.unwrap();
        tx.store_report(&dictionary::stored(&backend, &report.report, began_at, &app.config.get().scheduler)).await.unwrap();
        tx.commit().await.unwrap();
        app.drivers.insert(backend);
    }

    pub async fn member(&self) -> Client {
        self.client(Api::Block, Persona::Member).await
    }
    pub async fn operator(&self) -> Client {
        self.client(Api::Block, Persona::Admin).await
    }

    /// An available volume of 1 GiB; its id.
    pub async fn volume(&self) -> String {
        self.volume_with(json!({})).await
    }
    /// An available volume with more members; its id.
    pub async fn volume_with(&self, members: Value) -> String {
        let member = self.member().await;
        let id = create(&member, members).await;
        member.volume_until(&id, "available").await;
        id
    }
    /// A type whose volumes are multi-attach; its name.
    pub async fn multiattach_type(&self) -> String {
        let body = json!({ "volume_type": { "name": "multi", "extra_specs": { "multiattach": "<is> True" } } });
        self.operator().await.post("/types", body).await.expect(200);
        "multi".into()
    }
    /// An available multi-attach volume; its id.
    pub async fn multiattach_volume(&self) -> String {
        let name = self.multiattach_type().await;
        self.volume_with(json!({ "volume_type": name })).await
    }
    /// The status and attach status in the database's own words.
    pub async fn status(&self, volume: &str) -> (String, String) {
        let row = self.app.app().store.volume(volume).await.unwrap().unwrap();
        (row.status, row.attach_status)
    }
    /// Waits for something that the array or the store shows.
    pub async fn until<F: Future<Output = bool>>(&self, what: &str, ask: impl Fn() -> F) {
        wait::until(what, || async { ask().await.then_some(()) }).await;
    }
    /// Figures of a project as the quota API has them.
    pub async fn used(&self, client: &Client, resource: &str) -> i64 {
        let body = client.get(&format!("/os-quota-sets/{}?usage=true", client.project_id)).await.expect(200);
        body["quota_set"][resource]["in_use"].as_i64().unwrap()
    }
}

/// A volume of 1 GiB, accepted; its id.
pub async fn create(client: &Client, members: Value) -> String {
    let mut volume = json!({ "size": 1 });
    volume.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    client.post("/volumes", json!({ "volume": volume })).await.expect(202)["volume"]["id"].as_str().unwrap().to_owned()
}

/// A reservation; its id.
pub async fn reserve(client: &Client, volume: &str, instance: Option<&str>) -> String {
    let body = json!({ "attachment": { "volume_uuid": volume, "instance_uuid": instance } });
    client.at("3.44").post("/attachments", body).await.expect(200)["attachment"]["id"].as_str().unwrap().to_owned()
}

/// What a compute host sends.
pub fn connector(host: &str) -> Value {
    json!({ "host": host, "initiator": format!("iqn.1993-08.org.debian:01:{host}"), "ip": "192.0.2.10", "multipath": false, "mountpoint": "/dev/vdb" })
}

/// Connects an attachment to a host.
pub async fn connect(client: &Client, attachment: &str, host: &str) -> support::Answer {
    client.at("3.44").put(&format!("/attachments/{attachment}"), json!({ "attachment": { "connector": connector(host) } })).await
}

/// `os-complete`.
pub async fn complete(client: &Client, attachment: &str) -> support::Answer {
    client.at("3.44").post(&format!("/attachments/{attachment}/action"), json!({ "os-complete": null })).await
}

/// Reserved, connected and completed; the attachment's id.
pub async fn attach(client: &Client, volume: &str, host: &str) -> String {
    let id = reserve(client, volume, None).await;
    connect(client, &id, host).await.expect(200);
    complete(client, &id).await.expect(204);
    id
}

/// Deletes an attachment.
pub async fn detach(client: &Client, attachment: &str) -> support::Answer {
    client.at("3.27").delete(&format!("/attachments/{attachment}")).await
}

/// Any UUID.
pub fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}
