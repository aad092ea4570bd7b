//! The real binary, `$STOWAGE_BIN`, as a child that can be killed, stopped, continued and started again.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use http::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use stowage::{
    api::route::Api,
    config::{BackendConfig, Bind, Config, LogFormat},
    store::Durability,
};
use tempfile::TempDir;

use crate::{Client, Persona, drivers, persona::Personas, ports, wait};

/// A service in a process of its own. It is killed when dropped.
pub struct Process {
    config: Config,
    child: Option<Child>,
    dir: TempDir,
    starts: usize,
}

/// The binary under test.
///
/// # Panics
/// When it was not built.
pub fn binary() -> PathBuf {
    let beside = || Some(env::current_exe().ok()?.parent()?.parent()?.join("stowage"));
    let path = env::var_os("STOWAGE_BIN").map(PathBuf::from).or_else(beside).expect("STOWAGE_BIN");
    assert!(path.exists(), "{} is not there: build the binary first (`make test` does), or set STOWAGE_BIN", path.display());
    path
}

/// A command of the binary that sees none of this machine's Stowage: no configuration, no state.
pub fn command(home: &Path) -> Command {
    let mut command = Command::new(binary());
    command
        .env_remove("STOWAGE_CONFIG")
        .env_remove("STOWAGE_STATE_DIR")
        .env("HOME", home)
        .env("XDG_STATE_HOME", home.join("state"))
        .stdin(Stdio::null());
    command
}

impl Process {
    /// Writes a configuration (four free ports, one memory back end, then `change`) and starts `stowage serve` on it.
    pub async fn start(change: impl FnOnce(&mut Config)) -> Self {
        let mut process = Self::prepare(change);
        process.spawn();
        process.ready().await;
        process
    }

    /// As [`Process::start`], without starting it.
    pub fn prepare(change: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::Builder::new().prefix("stowage-process-").tempdir().unwrap();
        let mut config =
            Config { state_dir: dir.path().join("state"), backends: vec![BackendConfig::new("memory", "memory")], ..Config::default() };
        let listen = &mut config.listen;
        for bind in [&mut listen.identity, &mut listen.block, &mut listen.share, &mut listen.admin] {
            *bind = Bind::loopback(ports::free());
        }
        config.database.durability = Durability::Process;
        config.identity.argon2.memory_kib = 8;
        config.identity.argon2.iterations = 1;
        config.jobs.lease = Duration::from_secs(2);
        config.jobs.poll = Duration::from_millis(200);
        config.scheduler.report_interval = Duration::from_secs(1);
        config.drivers.cache = drivers::compile_cache();
        config.log.format = LogFormat::Json;
        change(&mut config);
        let process = Self { config, child: None, dir, starts: 0 };
        process.write_config();
        drivers::install(&process.config.driver_folder(), process.config.backends.iter().map(|b| b.driver.as_str()));
        process
    }

    pub fn config(&self) -> &Config {
        &self.config
    }
    pub fn config_file(&self) -> PathBuf {
        self.dir.path().join("stowage.toml")
    }
    pub fn state_dir(&self) -> &Path {
        &self.config.state_dir
    }
    /// Changes the configuration file; the running process sees it when it reloads.
    pub fn reconfigure(&mut self, change: impl FnOnce(&mut Config)) {
        change(&mut self.config);
        self.write_config();
    }
    fn write_config(&self) {
        fs::create_dir_all(&self.config.state_dir).unwrap();
        // a URL is written with its password hidden; the tests' own has none
        fs::write(self.config_file(), toml::to_string(&self.config).unwrap()).unwrap();
    }

    /// Another command of the binary with this process's configuration.
    pub fn command(&self) -> Command {
        let mut command = command(self.dir.path());
        command.arg("--config").arg(self.config_file());
        command
    }

    /// Starts the process without waiting for anything.
    pub fn spawn(&mut self) {
        assert!(self.child.is_none(), "it runs already");
        self.starts += 1;
        let log = File::create(self.log_file(self.starts)).unwrap();
        let out = File::create(self.dir.path().join(format!("out-{}.txt", self.starts))).unwrap();
        self.child = Some(self.command().arg("serve").stdout(out).stderr(log).spawn().unwrap());
    }
    fn log_file(&self, start: usize) -> PathBuf {
        self.dir.path().join(format!("log-{start}.txt"))
    }
    /// Everything it logged, over all starts.
    pub fn log(&self) -> String {
        (1..=self.starts).map(|n| fs::read_to_string(self.log_file(n)).unwrap_or_default()).collect()
    }
    /// What the last start printed to standard output.
    pub fn printed(&self) -> String {
        fs::read_to_string(self.dir.path().join(format!("out-{}.txt", self.starts))).unwrap_or_default()
    }

    /// Waits until `/healthz` is 200.
    ///
    /// # Panics
    /// When the process ends instead; with its log.
    pub async fn ready(&mut self) {
        let health = self.anonymous(Api::Admin).rooted_at("");
        let begun = std::time::Instant::now();
        loop {
            if let Some(status) = self.exited() {
                panic!("the process ended with {status}:\n{}", self.log());
            }
            if health.try_send(http::Method::GET, "/healthz", None).await.is_ok_and(|a| a.status == StatusCode::OK) {
                return;
            }
            assert!(begun.elapsed() < wait::PATIENCE, "not ready after {:?}:\n{}", wait::PATIENCE, self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The exit status if it has ended by itself.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        let status = self.child.as_mut().and_then(|c| c.try_wait().unwrap());
        if status.is_some() {
            self.child = None;
        }
        status
    }
    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.as_ref().expect("it runs").id()).unwrap()).unwrap()
    }
    /// The processor time it has used so far, without that of its children.
    pub fn cpu_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid().as_raw_nonzero())).unwrap();
        // behind the name, which may hold anything: state is the third field, utime the 14th, stime the 15th
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // the kernel shows hundredths of a second, whatever its own clock
        Duration::from_millis(ticks * 10)
    }
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }
    /// SIGKILL, and waits for the end.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
    /// SIGSTOP: the process exists and does nothing.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }
    /// SIGCONT
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }
    /// SIGTERM, and waits for the end.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        let begun = std::time::Instant::now();
        loop {
            if let Some(status) = self.exited() {
                return status;
            }
            assert!(begun.elapsed() < wait::PATIENCE, "it does not end:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    /// Starts it again on the same state and ports.
    pub async fn restart(&mut self) {
        self.spawn();
        self.ready().await;
    }

    pub fn url(&self, api: Api) -> String {
        let listen = &self.config.listen;
        let bind = match api {
            Api::Identity => listen.identity,
            Api::Block => listen.block,
            Api::Share => listen.share,
            Api::Admin => listen.admin,
        };
        format!("http://{bind}")
    }
    pub fn anonymous(&self, api: Api) -> Client {
        Client::new(api, self.url(api))
    }
    /// The personas; call it once per state folder.
    pub async fn personas(&self) -> Personas {
        Personas::make(self.url(Api::Identity), self.config.clouds_yaml()).await
    }
    /// A client of one API as a persona.
    pub fn client(&self, personas: &Personas, api: Api, persona: Persona) -> Client {
        personas.client(api, self.url(api), persona)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let tail: Vec<&str> = log.lines().rev().take(40).collect();
            eprintln!("--- the last lines of the process's log");
            tail.iter().rev().for_each(|line| eprintln!("{line}"));
        }
        self.kill();
    }
}
