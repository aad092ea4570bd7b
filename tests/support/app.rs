//! The whole service in this process, over real HTTP on free ports, with a state folder that goes with it.

use std::{path::Path, sync::Arc, time::Duration};

use stowage::{
    api::route::Api,
    app::App,
    config::{BackendConfig, Bind, Config, Live, load::Source},
    serve::{self, Running, ServeError},
    store::Durability,
};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::{Client, Persona, drivers, persona::Personas};

/// A running service. Dropping it abandons it; [`TestApp::stop`] ends it in order.
pub struct TestApp {
    running: Running,
    personas: OnceCell<Personas>,
    /// The state folder; last, so that it goes after the service.
    dir: TempDir,
}

/// What a test wants to be different.
pub struct Builder {
    dir: TempDir,
    config: Config,
}

impl Builder {
    /// Changes any setting.
    #[must_use]
    pub fn config(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }
    /// Replaces the back ends. Their drivers are copied from the built ones into this service's plugin folder.
    #[must_use]
    pub fn backends(mut self, backends: impl IntoIterator<Item = BackendConfig>) -> Self {
        self.config.backends = backends.into_iter().collect();
        self
    }
    /// Another database than a fresh SQLite file.
    #[must_use]
    pub fn database(mut self, url: impl Into<String>) -> Self {
        self.config.database.url = url.into();
        self
    }
    /// The plugin folder, for tests that put files into it before the start.
    pub fn driver_folder(&self) -> std::path::PathBuf {
        self.config.driver_folder()
    }
    pub async fn start(self) -> TestApp {
        self.try_start().await.unwrap_or_else(|e| panic!("the service does not start: {e}"))
    }
    /// # Errors
    /// Why the service refused to start.
    pub async fn try_start(self) -> Result<TestApp, ServeError> {
        drivers::install(&self.config.driver_folder(), self.config.backends.iter().map(|b| b.driver.as_str()));
        let live = Live::new(self.config, Source::default());
        let running = serve::start(live, None).await?;
        Ok(TestApp { running, personas: OnceCell::new(), dir: self.dir })
    }
}

impl TestApp {
    /// With one back end `memory` on the memory driver.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// Without any back end: needs no driver to be built.
    pub async fn without_backends() -> Self {
        Self::builder().backends([]).start().await
    }

    pub fn builder() -> Builder {
        let dir = tempfile::Builder::new().prefix("stowage-test-").tempdir().unwrap();
        Builder { config: test_config(dir.path()), dir }
    }

    pub fn app(&self) -> &Arc<App> {
        &self.running.app
    }
    pub fn state_dir(&self) -> &Path {
        self.dir.path()
    }
    pub fn driver_folder(&self) -> std::path::PathBuf {
        self.app().config.get().driver_folder()
    }

    /// `http://127.0.0.1:PORT` of a service.
    pub fn url(&self, api: Api) -> String {
        format!("http://{}", self.running.addresses.get(api).expect("the service is on"))
    }

    /// A client of one API without a token.
    pub fn anonymous(&self, api: Api) -> Client {
        Client::new(api, self.url(api))
    }
    /// A client of one API as one of the personas, who are made at first use.
    pub async fn client(&self, api: Api, persona: Persona) -> Client {
        self.personas().await.client(api, self.url(api), persona)
    }
    /// A client of routes that a test serves itself, at `url`.
    pub async fn client_at(&self, api: Api, url: &str, persona: Persona) -> Client {
        self.personas().await.client(api, url.to_owned(), persona)
    }
    pub async fn block(&self, persona: Persona) -> Client {
        self.client(Api::Block, persona).await
    }
    pub async fn share(&self, persona: Persona) -> Client {
        self.client(Api::Share, persona).await
    }
    pub async fn identity(&self, persona: Persona) -> Client {
        self.client(Api::Identity, persona).await
    }
    /// A client of `/stowage/v1`.
    pub async fn admin(&self, persona: Persona) -> Client {
        self.client(Api::Admin, persona).await
    }
    pub async fn personas(&self) -> &Personas {
        self.personas.get_or_init(|| Personas::make(self.url(Api::Identity), self.app().config.get().clouds_yaml())).await
    }

    /// Ends the service in order and gives back its state folder.
    pub async fn stop(self) -> TempDir {
        self.running.stop().await;
        self.dir
    }

    /// Ends the service in order and starts it again on the same state, with the same configuration.
    pub async fn restart(mut self) -> Self {
        let config = Config::clone(&self.app().config.get());
        // their tokens outlive the process
        let personas = std::mem::take(&mut self.personas);
        let dir = self.stop().await;
        Self { personas, ..Builder { dir, config }.start().await }
    }
}

/// Free ports, cheap passwords, short leases, one memory back end.
fn test_config(dir: &Path) -> Config {
    let mut config = Config { state_dir: dir.to_owned(), backends: vec![BackendConfig::new("memory", "memory")], ..Config::default() };
    let listen = &mut config.listen;
    for bind in [&mut listen.identity, &mut listen.block, &mut listen.share, &mut listen.admin] {
        *bind = Bind::loopback(0);
    }
    listen.shutdown_grace = Duration::from_secs(10);
    config.database.durability = Durability::Process;
    config.identity.argon2.memory_kib = 8;
    config.identity.argon2.iterations = 1;
    config.jobs.lease = Duration::from_secs(2);
    config.jobs.poll = Duration::from_millis(200);
    config.scheduler.report_interval = Duration::from_secs(1);
    config.drivers.cache = drivers::compile_cache();
    config.drivers.settle = Duration::from_millis(50);
    config
}
