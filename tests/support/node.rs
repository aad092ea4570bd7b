//! `stowage node` in a process of its own, on a file system of its own, and a client of its API.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use http::{Method, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{ports, process, wait};

/// A node. When dropped, it and its iSCSI service are killed and its file system is unmounted.
pub struct Node {
    pub url: String,
    pub portal: String,
    child: Option<Child>,
    arguments: Vec<String>,
    token: String,
    starts: usize,
    generation: AtomicU64,
    http: reqwest::Client,
    dir: TempDir,
}

/// An answer of the node.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub body: Value,
}

impl Answer {
    /// The kind of a refusal; empty for a success.
    pub fn kind(&self) -> &str {
        self.body["error"]["kind"].as_str().unwrap_or_default()
    }
    /// # Panics
    /// When it is a refusal.
    pub fn ok(self) -> Value {
        assert!(self.status.is_success(), "{}: {}", self.status, self.body);
        self.body
    }
    /// # Panics
    /// When it is anything else.
    pub fn refused(self, kind: &str) {
        assert_eq!(self.kind(), kind, "{}: {}", self.status, self.body);
    }
}

/// One target as `tgtadm` shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    pub luns: BTreeMap<u64, (String, bool)>,
    pub accounts: Vec<String>,
    pub acl: Vec<String>,
}

impl Node {
    /// A node on a sparse 2 GiB file system.
    pub async fn start() -> Self {
        Self::with(&["--loop-size", "2G"]).await
    }

    /// A node with arguments of its own.
    pub async fn with(arguments: &[&str]) -> Self {
        let mut node = Self::prepare(arguments);
        node.spawn();
        node.ready().await;
        node
    }

    /// As [`Node::with`], without starting it.
    pub fn prepare(arguments: &[&str]) -> Self {
        let dir = tempfile::Builder::new().prefix("stowage-node-").tempdir().unwrap();
        let (listen, portal) = (format!("127.0.0.1:{}", ports::free()), format!("127.0.0.1:{}", ports::free()));
        let mut all: Vec<String> =
            ["node", "--listen", &listen, "--portal", &portal, "--log-level", "debug", "--dir"].map(str::to_owned).to_vec();
        all.push(dir.path().join("node").to_str().unwrap().to_owned());
        all.extend(arguments.iter().map(|a| (*a).to_owned()));
        Self {
            url: format!("http://{listen}"),
            portal,
            child: None,
            arguments: all,
            token: String::new(),
            starts: 0,
            generation: AtomicU64::new(1),
            http: reqwest::Client::builder().pool_idle_timeout(Duration::from_secs(1)).build().unwrap(),
            dir,
        }
    }

    pub fn spawn(&mut self) {
        assert!(self.child.is_none(), "it runs already");
        self.starts += 1;
        let log = File::create(self.dir.path().join(format!("log-{}.txt", self.starts))).unwrap();
        let out = File::create(self.dir.path().join(format!("out-{}.txt", self.starts))).unwrap();
        let child = process::command(self.dir.path()).args(&self.arguments).stdout(out).stderr(log).spawn().unwrap();
        self.child = Some(child);
    }

    /// Another command of the binary on the same folder.
    pub fn command(&self) -> Command {
        let mut command = process::command(self.dir.path());
        command.args(&self.arguments);
        command
    }

    /// Waits until `/healthz` is 200.
    ///
    /// # Panics
    /// When the process ends instead; with its log.
    pub async fn ready(&mut self) {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.as_mut().and_then(|c| c.try_wait().unwrap()) {
                panic!("the node ended with {status}:\n{}", self.log());
            }
            if self.http.get(format!("{}/healthz", self.url)).send().await.is_ok_and(|r| r.status() == StatusCode::OK) {
                break;
            }
            assert!(begun.elapsed() < wait::PATIENCE, "not ready:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        fs::read_to_string(self.dir().join("token")).unwrap().trim().clone_into(&mut self.token);
    }

    pub fn dir(&self) -> PathBuf {
        self.dir.path().join("node")
    }
    /// The folder around the node's: nothing may appear in it.
    pub fn around(&self) -> &Path {
        self.dir.path()
    }
    pub fn token(&self) -> &str {
        &self.token
    }
    /// Everything it logged, over all starts.
    pub fn log(&self) -> String {
        let read = |n| fs::read_to_string(self.dir.path().join(format!("log-{n}.txt"))).unwrap_or_default();
        (1..=self.starts).map(read).collect()
    }

    /// What the last start printed to standard output.
    pub fn printed(&self) -> String {
        fs::read_to_string(self.dir.path().join(format!("out-{}.txt", self.starts))).unwrap_or_default()
    }

    /// SIGKILL: the iSCSI service is left behind.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    /// SIGTERM; waits for the end.
    pub async fn stop(&mut self) {
        let mut child = self.child.take().expect("it runs");
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
    }
    /// The process id of the iSCSI service, if there is one.
    pub fn service_pid(&self) -> Option<Pid> {
        let pid = fs::read_to_string(self.dir().join("run/tgtd.pid")).ok()?.trim().parse().ok()?;
        let alive = fs::read(format!("/proc/{pid}/environ")).is_ok_and(|e| !e.is_empty());
        Pid::from_raw(pid).filter(|_| alive)
    }
    /// SIGKILL to the iSCSI service.
    pub fn kill_service(&self) {
        if let Some(pid) = self.service_pid() {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    /// Waits until another iSCSI service than `before` serves.
    pub async fn service_after(&self, before: Option<Pid>) {
        wait::until("another iSCSI service", async || {
            let other = self.service_pid().filter(|p| Some(*p) != before)?;
            let health = self.http.get(format!("{}/healthz", self.url)).send().await.ok()?;
            (health.status() == StatusCode::OK).then_some(other)
        })
        .await;
    }

    /// A generation that is higher than all before.
    pub fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::Relaxed)
    }

    /// A request as it is.
    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token)
    }
    /// A request with a new generation where it changes something.
    pub async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let generation = self.next_generation();
        self.send_as(generation, method, path, body).await
    }
    pub async fn send_as(&self, generation: u64, method: Method, path: &str, body: Option<Value>) -> Answer {
        self.try_send(generation, method, path, body).await.unwrap_or_else(|e| panic!("{path}: {e}\n{}", self.log()))
    }
    pub async fn try_send(&self, generation: u64, method: Method, path: &str, body: Option<Value>) -> reqwest::Result<Answer> {
        let mut request = self.request(method.clone(), path);
        if method != Method::GET {
            request = request.header("Stowage-Generation", generation);
        }
        if let Some(body) = &body {
            request = request.json(body);
        }
        let response = request.send().await?;
        let status = response.status();
        let bytes = response.bytes().await?;
        Ok(Answer { status, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) })
    }
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, Some(body)).await
    }
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// A volume of 1 GiB.
    pub async fn volume(&self, id: &str) -> Value {
        self.put(&format!("/v1/volumes/{id}"), json!({"size_gib": 1})).await.ok()
    }
    /// A volume of 1 GiB in a layout.
    pub async fn volume_in(&self, id: &str, layout: &str) -> Value {
        self.put(&format!("/v1/volumes/{id}"), json!({"size_gib": 1, "layout": layout})).await.ok()
    }
    /// Attaches and gives back the connection.
    pub async fn attach(&self, id: &str, initiator: &str) -> Value {
        self.put(&format!("/v1/volumes/{id}/attachments/{initiator}"), json!({})).await.ok()["connection"].take()
    }
    pub async fn detach(&self, id: &str, initiator: &str) {
        let _ = self.delete(&format!("/v1/volumes/{id}/attachments/{initiator}")).await.ok();
    }
    pub async fn free_bytes(&self) -> i64 {
        self.get("/v1/capacity").await.ok()["free_bytes"].as_i64().unwrap()
    }

    fn tgtadm(&self) -> Command {
        let mut command = Command::new("/usr/sbin/tgtadm");
        command.env("TGT_IPC_SOCKET", self.dir().join("run/tgtd")).args(["-C", "0", "--lld", "iscsi", "--mode", "target"]);
        command
    }

    /// Takes every target from the iSCSI service, behind the node's back.
    pub fn remove_targets(&self) {
        let shown = self.tgtadm().args(["--op", "show"]).output().unwrap();
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        for tid in text.lines().filter_map(|line| Some(line.strip_prefix("Target ")?.split_once(':')?.0)) {
            let status = self.tgtadm().args(["--op", "delete", "--force", "--tid", tid]).status().unwrap();
            assert!(status.success(), "target {tid}");
        }
    }

    /// What the iSCSI service has, as its own tool shows it: target name to target.
    pub fn targets(&self) -> BTreeMap<String, Target> {
        let out = self.tgtadm().args(["--op", "show"]).output().unwrap();
        let mut targets: BTreeMap<String, Target> = BTreeMap::new();
        let (mut name, mut section, mut lun) = (String::new(), String::new(), 0);
        for line in String::from_utf8_lossy(&out.stdout).lines() {
            let text = line.trim();
            if let Some(rest) = line.strip_prefix("Target ") {
                rest.split_once(": ").unwrap().1.clone_into(&mut name);
                targets.insert(name.clone(), Target::default());
            } else if !line.starts_with("        ") {
                text.clone_into(&mut section);
            } else if let Some(target) = targets.get_mut(&name) {
                match section.as_str() {
                    "LUN information:" => {
                        if let Some(n) = text.strip_prefix("LUN: ") {
                            lun = n.parse().unwrap();
                        } else if let Some(path) = text.strip_prefix("Backing store path: ").filter(|p| *p != "None") {
                            target.luns.entry(lun).or_default().0 = path.to_owned();
                        } else if let Some(ro) = text.strip_prefix("Readonly: ")
                            && lun != 0
                        {
                            target.luns.entry(lun).or_default().1 = ro == "Yes";
                        }
                    }
                    "Account information:" => target.accounts.push(text.to_owned()),
                    "ACL information:" => target.acl.push(text.to_owned()),
                    _ => {}
                }
            }
        }
        targets
    }

    /// Asserts that what the API says, what the iSCSI service has and what files there are is one and the same.
    pub async fn agrees(&self) {
        let (mut wanted, mut files) = (BTreeMap::<String, Target>::new(), BTreeSet::new());
        for volume in self.all("volumes").await {
            let id = volume["id"].as_str().unwrap();
            let path = self.dir().join(format!("data/volumes/{id}.img"));
            assert_eq!(fs::metadata(&path).unwrap().len(), volume["size_gib"].as_u64().unwrap() << 30, "{id}");
            files.insert(format!("volumes/{id}.img"));
            for attachment in self.get(&format!("/v1/volumes/{id}/attachments")).await.ok()["attachments"].as_array().unwrap() {
                let connection = &attachment["connection"];
                let target = wanted.entry(connection["iqn"].as_str().unwrap().to_owned()).or_default();
                target.luns.insert(connection["lun"].as_u64().unwrap(), (path.to_str().unwrap().to_owned(), attachment["mode"] == "ro"));
                target.acl = vec![attachment["initiator"].as_str().unwrap().to_owned()];
            }
        }
        for snapshot in self.all("snapshots").await {
            files.insert(format!("snapshots/{}.img", snapshot["id"].as_str().unwrap()));
        }
        let mut found = self.targets();
        for target in found.values_mut() {
            assert_eq!(target.accounts.len(), 1, "every target asks for its own account: {target:?}");
            target.accounts.clear();
        }
        assert_eq!(found, wanted, "the iSCSI service holds what the records say");
        let mut there = BTreeSet::new();
        for folder in ["volumes", "snapshots", "work"] {
            for entry in fs::read_dir(self.dir().join("data").join(folder)).unwrap() {
                there.insert(format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy()));
            }
        }
        assert_eq!(there, files, "every file has a record and every record its file");
    }

    /// Every object of a kind, page by page.
    pub async fn all(&self, kind: &str) -> Vec<Value> {
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.get(&format!("/v1/{kind}?limit=50{after}")).await.ok();
            all.extend(page[kind].as_array().unwrap().iter().cloned());
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return all,
            }
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let failed = std::thread::panicking();
        if failed {
            let log = self.log();
            let from = log.len().saturating_sub(6000);
            eprintln!("the node's log ends with:\n{}", log.get(from..).unwrap_or(&log));
        }
        self.kill();
        self.kill_service();
        let gone = Instant::now();
        while self.service_pid().is_some() && gone.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // a killed process closes its files a moment after it seems to be gone
        let data = self.dir().join("data");
        let mounted = || fs::read_to_string("/proc/self/mounts").is_ok_and(|m| m.contains(data.to_str().unwrap_or_default()));
        while mounted() && gone.elapsed() < Duration::from_secs(20) {
            let _ = Command::new("umount").arg(&data).stderr(Stdio::null()).status();
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
