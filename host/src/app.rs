//! The composition root: what the running service is made of.
//!
//! [`App::build`] makes every part, [`App::start`] sets those in motion that work by themselves, [`App::apply`] hands a
//! changed configuration on, [`App::stop`] ends them. No part looks up another except through the `App` it is given.

use std::{path::Path, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::{
    api::{auth::TokenSource, route::Api},
    clock::{self, Micros},
    config::{Config, IdentityMode, Live, PublicUrlConfig},
    copy::{self, Copies},
    driver::catalog::{Catalog, Parts},
    jobs::{Jobs, JobsOptions, task},
    keystone::Keystone,
    network::{NetworkPlugin, r#static::Static},
    notify::log_sink::LogSink,
    policy::Policy,
    reconcile::{
        Reconcilers, dead_workers::DeadWorkers, deliver::Deliver, driver_follow::DriverFollow, driver_health::DriverHealth,
        empty_bin::EmptyBin, forget_placements::ForgetPlacements, forget_tokens::ForgetTokens, idle_servers::IdleServers,
        log_levels::LogLevels, purge::Purge, stats::Stats, webhook::Webhook,
    },
    serve::{Addresses, ServeError},
    service::identity::{
        Identity,
        bootstrap::{self, Bootstrapped},
        catalog::{self, ServiceCatalog},
    },
    service::{self, backend::swaps::Swaps, log_level, share_type, volume_type},
    store::Store,
    telemetry::{
        self,
        health::{Health, Status},
        log::LogControl,
    },
    wasm::{
        compile::Compiler,
        host_fn::progress::ProgressBoard,
        load::{LoaderOptions, WasmLoader},
    },
};

/// The running service. One per process, behind an `Arc`.
pub struct App {
    /// The configuration in force; take it with `app.config.get()`.
    pub config: Live,
    pub store: Store,
    /// The queue, and this process's part in the work.
    pub jobs: Jobs,
    /// The loops that bring things back to what they should be.
    pub reconcilers: Reconcilers,
    /// Who may do what.
    pub policy: Policy,
    /// What a token stands for: the built-in identity or a real Keystone.
    pub tokens: Arc<dyn TokenSource>,
    /// The built-in identity; none when tokens are a real Keystone's.
    pub identity: Option<Arc<Identity>>,
    /// The loaded back ends.
    pub drivers: Catalog,
    /// Connects and disconnects of one host take turns.
    pub turns: task::Turns,
    /// Where share servers get their addresses from.
    pub network: Arc<dyn NetworkPlugin>,
    /// Who copies volumes from one back end to another.
    pub copies: Copies,
    /// How far drivers say their long operations are.
    pub progress: ProgressBoard,
    /// How clients reach the services.
    pub public_urls: PublicUrls,
    pub health: Health,
    /// What this process logs.
    pub log: LogControl,
    /// This run of the process, as its row has it.
    pub process_id: String,
    /// What `/metrics` renders.
    pub metrics: metrics_exporter_prometheus::PrometheusHandle,
    /// When this process started.
    pub started_at: Micros,
}

/// Scheme, host and port of each service as clients reach it, without a final slash; empty for a service that is off and
/// has no configured URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublicUrls {
    pub identity: String,
    pub block: String,
    pub share: String,
    pub admin: String,
}

impl PublicUrls {
    pub fn new(configured: &PublicUrlConfig, addresses: &Addresses) -> Self {
        let of = |url: &str, api| match addresses.get(api) {
            _ if !url.is_empty() => url.trim_end_matches('/').to_owned(),
            Some(address) => format!("http://{address}"),
            None => String::new(),
        };
        Self {
            identity: of(&configured.identity, Api::Identity),
            block: of(&configured.block, Api::Block),
            share: of(&configured.share, Api::Share),
            admin: of(&configured.admin, Api::Admin),
        }
    }
}

impl App {
    /// Makes every part. Nothing runs yet.
    ///
    /// # Errors
    /// [`ServeError`] of the part that could not be made.
    pub async fn build(live: Live, store: Store, public_urls: PublicUrls) -> Result<Arc<Self>, ServeError> {
        let log = LogControl::detached(&live.get().log);
        Self::build_with(live, store, public_urls, log).await
    }

    /// As [`App::build`], where the log follows levels that are set while it runs.
    ///
    /// # Errors
    /// As [`App::build`].
    pub async fn build_with(live: Live, store: Store, public_urls: PublicUrls, log: LogControl) -> Result<Arc<Self>, ServeError> {
        let config = live.get();
        let policy = Policy::load(policy_file(&config.policy.file))
            .map_err(|e| ServeError::part(format!("policy.file {}", config.policy.file.display()), e))?;
        volume_type::seed::ensure_default_type(&store).await?;
        share_type::seed::ensure_default_type(&store).await?;
        let (tokens, identity) = identity(&config, &store, &public_urls).await?;
        Ok(Arc::new(Self {
            jobs: Jobs::new(store.clone(), jobs_options(&config)),
            reconcilers: Reconcilers::default(),
            policy,
            tokens,
            identity,
            drivers: Catalog::default(),
            turns: task::Turns::default(),
            network: Arc::new(Static::new(live.clone())),
            copies: Copies::default(),
            progress: ProgressBoard::default(),
            public_urls,
            health: Health::default(),
            log,
            process_id: uuid::Uuid::new_v4().to_string(),
            metrics: telemetry::metrics::handle(),
            started_at: clock::now(),
            config: live,
            store,
        }))
    }

    /// Starts what works by itself: workers, reconcilers, drivers. Each ends when `stop` is cancelled or in [`App::stop`].
    ///
    /// # Errors
    /// [`ServeError`] of the part that could not be started.
    pub async fn start(self: &Arc<Self>, stop: &CancellationToken) -> Result<(), ServeError> {
        telemetry::health::watch_database(self, stop.clone());
        let config = self.config.get();
        copy::qemu::forget_left_over(&config.copy_folder());
        self.apply_limits(&config);
        service::backend::configure(&self.store, &config).await?;
        volume_type::seed::warn_without_default(&self.store, &config.block.default_volume_type).await?;
        let stats = Stats::new(self);
        self.start_drivers(&config, stats.clone(), stop).await?;
        // after the drivers: a job that finds its back end not loaded would only be put off
        self.jobs.start(self, task::registry()).await?;
        log_level::follow::register(self).await?;
        self.start_loops(&config, stats);
        Ok(())
    }

    async fn start_drivers(&self, config: &Config, stats: Stats, stop: &CancellationToken) -> Result<(), ServeError> {
        let options = LoaderOptions {
            max_instances: config.drivers.max_instances,
            cache: Some(config.driver_cache()),
            compiler: Compiler::current(),
            db: Some(self.store.driver_db().await?),
            progress: self.progress.clone(),
        };
        let loader = WasmLoader::new(options).map_err(|e| ServeError::part("drivers", e))?;
        let parts = Parts {
            store: self.store.clone(),
            loader: Arc::new(loader),
            host: config.host.clone(),
            folder: config.driver_folder(),
            watch: config.drivers.watch,
            settle: config.drivers.settle,
            hooks: vec![Arc::new(Swaps::new(self.store.clone(), self.jobs.clone(), stats))],
        };
        self.drivers.start(parts, &config.backends, stop).await.map_err(|e| ServeError::part("drivers", e))?;
        Ok(())
    }

    fn start_loops(self: &Arc<Self>, config: &Config, stats: Stats) {
        let (store, jobs) = (&self.store, &self.jobs);
        let mut purge = Purge::new(store.clone());
        purge.tombstones = config.jobs.tombstone_age;
        let deliver = Deliver::new(store.clone(), vec![Arc::new(LogSink)]).with_webhook(self.config.clone(), self.reconcilers.clone());
        self.reconcilers.start(jobs, Arc::new(DeadWorkers::new(store.clone(), jobs.clone())));
        self.reconcilers.start(jobs, Arc::new(deliver));
        self.reconcilers.start(jobs, Arc::new(Webhook::new(store.clone(), self.config.clone(), self.health.clone())));
        self.reconcilers.start(jobs, Arc::new(purge));
        self.reconcilers.start(jobs, Arc::new(DriverHealth::new(self.drivers.clone())));
        if !store.is_sqlite() {
            // only then are there other processes
            self.reconcilers.start(jobs, Arc::new(DriverFollow::new(self.drivers.clone())));
            self.reconcilers.start(jobs, Arc::new(LogLevels::new(self)));
        }
        self.reconcilers.start(jobs, Arc::new(stats));
        self.reconcilers.start(jobs, Arc::new(ForgetPlacements::new(self)));
        self.reconcilers.start(jobs, Arc::new(ForgetTokens::new(self)));
        self.reconcilers.start(jobs, Arc::new(EmptyBin::new(self)));
        self.reconcilers.start(jobs, Arc::new(IdleServers::new(self)));
    }

    /// Hands a changed configuration to the parts that keep something made from it. The others read `config` at each use.
    pub async fn apply(self: &Arc<Self>, config: &Config) {
        if let Err(e) = log_level::follow::configure(self, &config.log.level).await {
            tracing::warn!(error = %e, "the log follows the configuration; levels that were set before may come back");
        }
        self.apply_limits(config);
        // before the drivers, which may be slow
        self.reload_policy(config).await;
        if let Err(e) = volume_type::seed::warn_without_default(&self.store, &config.block.default_volume_type).await {
            tracing::warn!(error = %e, "whether the default volume type exists is not known");
        }
        if let Err(e) = service::backend::configure(&self.store, config).await {
            tracing::error!(error = %e, "the changed back ends are not in the database; they follow with the next reload");
        }
        if let Err(e) = self.drivers.apply(&config.backends).await {
            tracing::error!(error = %e, "the changed back ends are not in force; they follow with the next reload");
        }
    }

    /// Reads the policy file again: it may have changed when the configuration did not. A file that is refused leaves the
    /// rules in force, and shows in the process's health.
    pub async fn reload_policy(self: &Arc<Self>, config: &Config) {
        let (app, file) = (Arc::clone(self), config.policy.file.clone());
        let read = move || app.policy.reload(policy_file(&file));
        let outcome = match tokio::task::spawn_blocking(read).await {
            Ok(outcome) => outcome.map_err(|e| e.to_string()),
            Err(e) => Err(e.to_string()),
        };
        match outcome {
            Ok(()) => self.health.ok("policy"),
            Err(error) => {
                tracing::error!(file = %config.policy.file.display(), %error, "the policy file is refused, the rules in force stay");
                self.health.set("policy", Status::Degraded, format!("{}: {error}; the rules in force stay", config.policy.file.display()));
            }
        }
    }

    fn apply_limits(&self, config: &Config) {
        self.store.quota_defaults().set(config.quota.clone());
        for backend in &config.backends {
            self.jobs.set_backend_concurrency(&config.backend_host(&backend.name), Some(backend.grants.concurrency));
        }
    }

    /// Ends what [`App::start`] started: running jobs may finish within `grace`, the rest is handed back.
    pub async fn stop(self: &Arc<Self>, grace: Duration) {
        self.reconcilers.stop().await;
        if let Err(e) = log_level::follow::leave(self).await {
            tracing::warn!(error = %e, "this process is told of until its row lapses");
        }
        if let Err(e) = self.jobs.shutdown(grace).await {
            tracing::warn!(error = %e, "jobs were not handed back; they are taken over when the lease has expired");
        }
    }
}

fn policy_file(configured: &Path) -> Option<&Path> {
    Some(configured).filter(|p| !p.as_os_str().is_empty())
}

fn jobs_options(config: &Config) -> JobsOptions {
    let jobs = &config.jobs;
    JobsOptions { work: jobs.work, lease: jobs.lease, poll: jobs.poll, unplaced: jobs.concurrency, ..JobsOptions::default() }
}

/// Who says what tokens stand for. The built-in identity is made at the first start.
async fn identity(config: &Config, store: &Store, urls: &PublicUrls) -> Result<(Arc<dyn TokenSource>, Option<Arc<Identity>>), ServeError> {
    if config.identity.mode == IdentityMode::Keystone {
        let keystone = Keystone::new(&config.identity.keystone).map_err(|e| ServeError::part("identity.keystone", e))?;
        return Ok((Arc::new(keystone), None));
    }
    let clouds = config.clouds_yaml();
    let made = bootstrap::bootstrap(store, &config.identity, &urls.identity, &clouds)
        .await
        .map_err(|e| ServeError::part("the first start of identity", e))?;
    if made != Bootstrapped::Before {
        tracing::info!(clouds_yaml = %clouds.display(), "identity was made, with a random administrator's password");
    }
    let catalog = ServiceCatalog::new(
        &config.identity.region,
        &catalog::Urls { identity: urls.identity.clone(), block: urls.block.clone(), share: urls.share.clone() },
        &config.identity.services,
    );
    let catalog = if config.network.subnets.is_empty() { catalog } else { catalog.with_network(&urls.identity) };
    let identity = Identity::new(store.clone(), &config.identity, catalog).map_err(|e| ServeError::part("identity.argon2", e))?;
    let identity = Arc::new(identity);
    Ok((Arc::clone(&identity) as Arc<dyn TokenSource>, Some(identity)))
}
