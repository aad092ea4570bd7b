//! The service under measurement, and who calls it.

use std::time::{Duration, Instant};

use stowage::{
    api::route::Api,
    config::{BackendConfig, Config},
    store::Durability,
};
use support::{Persona, process::Process};

/// Its back end of shares.
pub const SHARES: &str = "stowage@shares";

/// A running `stowage serve`.
pub struct Service {
    process: Process,
    /// From the start of the process to the first healthy answer.
    pub started_in: Duration,
    pub token: String,
    pub project_id: String,
    pub user_id: String,
}

impl Service {
    /// On SQLite, or on the PostgreSQL database at this URL.
    pub async fn start(database: Option<String>, durability: Durability) -> Self {
        // the fake array must not be what runs full
        let pools = serde_json::json!(["bench:10000000"]);
        Self::start_with(database, |config| {
            config.database.durability = durability;
            let mut shares = BackendConfig::of_shares("shares", "memory");
            shares.options.insert("pools".to_owned(), pools.clone());
            config.backends[0].options.insert("pools".to_owned(), pools);
            config.backends.push(shares);
        })
        .await
    }

    /// With other back ends.
    pub async fn start_with(database: Option<String>, change: impl FnOnce(&mut Config)) -> Self {
        let mut process = Process::prepare(|config| {
            configure(config, database.clone());
            change(config);
        });
        if database.is_some() {
            let migrated =
                support::process::command(process.state_dir()).arg("--config").arg(process.config_file()).arg("migrate").status().unwrap();
            assert!(migrated.success(), "stowage migrate: {migrated}");
        }
        let begun = Instant::now();
        process.spawn();
        process.ready().await;
        let started_in = begun.elapsed();
        Self { process, started_in, token: String::new(), project_id: String::new(), user_id: String::new() }
    }

    pub async fn log_in(&mut self) {
        let personas = self.process.personas().await;
        let client = self.process.client(&personas, Api::Block, Persona::Admin);
        self.token = client.token().to_owned();
        self.project_id.clone_from(&client.project_id);
        self.user_id.clone_from(&client.user_id);
        self.wait_for_backend().await;
    }

    /// Ends it in order and starts it again on the same state.
    pub async fn restart(&mut self) {
        self.process.terminate().await;
        let begun = Instant::now();
        self.process.spawn();
        self.process.ready().await;
        self.started_in = begun.elapsed();
    }

    pub async fn stop(mut self) {
        self.process.terminate().await;
    }

    /// `127.0.0.1:PORT` of the block API.
    pub fn block(&self) -> String {
        self.process.url(Api::Block).trim_start_matches("http://").to_owned()
    }
    pub fn share(&self) -> String {
        self.process.url(Api::Share).trim_start_matches("http://").to_owned()
    }
    pub fn admin(&self) -> String {
        self.process.url(Api::Admin).trim_start_matches("http://").to_owned()
    }
    pub fn config(&self) -> &Config {
        self.process.config()
    }

    pub fn rss_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.pid().as_raw_nonzero())).unwrap();
        let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    async fn wait_for_backend(&self) {
        let begun = Instant::now();
        loop {
            let mut connection = crate::http::Connection::open(&self.admin(), &self.token).await;
            let answer = connection.json(200, hyper::Method::GET, "/stowage/v1/backends", None).await;
            if answer["backends"].as_array().is_some_and(|b| b.iter().all(|b| b["state"] == "up")) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no back end came up: {answer}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn configure(config: &mut Config, database: Option<String>) {
    if let Some(url) = database {
        config.database.url = url;
    }
    // what an operator gets who changes nothing
    let defaults = Config::default();
    config.database.durability = Durability::Full;
    config.jobs.lease = defaults.jobs.lease;
    config.jobs.poll = defaults.jobs.poll;
    config.scheduler.report_interval = defaults.scheduler.report_interval;
    config.log.level = "warn".to_owned();
    let quota = &mut config.quota;
    for limit in [&mut quota.volumes, &mut quota.gigabytes, &mut quota.share.shares, &mut quota.share.gigabytes] {
        *limit = -1;
    }
}
