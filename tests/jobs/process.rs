//! Real worker processes: stopped past their lease and woken, and killed.
//!
//! The test executable runs itself again as the worker ([`worker_process`]); what the worker does it tells through an
//! HTTP-free, database-free file, so that the database is not compared with itself.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use stowage::{
    jobs::{JobsOptions, Outcome, TaskError},
    store::{Store, StoreOptions, sql::jobs::JobFilter},
};
use support::{
    db::{Db, on_postgres},
    wait::until,
};

use crate::harness::{Context, PATIENCE, Run, Worker, enqueue, job, options, settle, task};

const DATABASE: &str = "STOWAGE_TEST_WORKER_DATABASE";
const FOLDER: &str = "STOWAGE_TEST_WORKER_FOLDER";

fn tell(folder: &Path, line: &str) {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(folder.join("told")).unwrap();
    // one write: two threads tell at once
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn told(folder: &Path) -> Vec<String> {
    fs::read_to_string(folder.join("told")).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The last generation that began.
fn begun(folder: &Path) -> Option<i64> {
    let said = fs::read_to_string(folder.join("said")).unwrap_or_default();
    assert!(!said.contains("panicked"), "the other process failed: {said}");
    told(folder).iter().rev().find_map(|l| l.strip_prefix("begin ")?.parse().ok())
}

/// Ends its job with its generation.
fn generation_task() -> crate::harness::Scripted {
    task("work", |cx| async move {
        let generation = cx.job.generation;
        settle(cx, json!(generation)).await
    })
}

/// Says that it began, waits for the file `go`, then acts as a task does that knows nothing of the time gone by: asks its
/// lease, and writes its result.
async fn slow_work(folder: PathBuf, cx: Context) -> Run {
    tell(&folder, &format!("begin {}", cx.job.generation));
    while !folder.join("go").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tell(&folder, &format!("held {}", cx.worker_lease().is_held()));
    let mut tx = cx.app.store.begin().await?;
    tx.set_setting("stopped-worker", "wrote").await?;
    let verdict = cx.settle(tx, Ok(json!("from the stopped worker"))).await;
    tell(
        &folder,
        &format!(
            "settle {}",
            match &verdict {
                Ok(()) => "ok".to_owned(),
                Err(TaskError::Fenced) => "fenced".to_owned(),
                Err(e) => e.to_string(),
            }
        ),
    );
    verdict.map(|()| Outcome::Settled)
}

/// Not a test of its own: the body of the other process. Does nothing unless it is started by the tests below.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the other process of the tests below"]
async fn worker_process() {
    let (Ok(url), Ok(folder)) = (std::env::var(DATABASE), std::env::var(FOLDER)) else { return };
    let folder = PathBuf::from(folder);
    let store = Store::open(&StoreOptions::new(url)).await.unwrap();
    let for_task = folder.clone();
    // outside the runner's reach: the run must not be dropped with the lease, or nothing would be tried at all
    let stubborn = task("work", move |cx| {
        let run = tokio::spawn(slow_work(for_task.clone(), cx));
        async move { run.await.unwrap() }
    });
    let worker = Worker::start(&store, options(), [stubborn]).await;
    enqueue(&worker.jobs, job("work", "v1")).await;
    let first = worker.jobs.lease().unwrap().worker().to_owned();
    tell(&folder, &format!("worker {first}"));
    let _ = until_new_registration(&worker, &first).await;
    tell(&folder, "registered anew");
    std::future::pending().await
}

async fn until_new_registration(worker: &Worker, first: &str) -> String {
    loop {
        if let Some(lease) = worker.jobs.lease().filter(|l| l.worker() != first) {
            return lease.worker().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A worker process; killed when dropped.
struct Process(Child);

impl Process {
    fn start(database: &str, folder: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "process::worker_process", "--ignored", "--nocapture", "--test-threads=1"]);
        let said = fs::File::create(folder.join("said")).unwrap();
        command.env(DATABASE, database).env(FOLDER, folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        Self(command.spawn().unwrap())
    }
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_stopped_past_its_lease_and_woken_changes_nothing() {
    on_postgres(|db| async move {
        let folder = tempfile::tempdir().unwrap();
        let process = Process::start(&db.options.url, folder.path());
        until("the worker to begin", || async { begun(folder.path()) }).await;
        process.signal(Signal::STOP);
        // on a loaded machine it may have begun more than once by then
        let stopped_at = begun(folder.path()).unwrap();

        // its lease lapses by the database's clock; this process takes the job over and ends it
        let here = Worker::start(&db.store, options(), [generation_task()]).await;
        let id = here.jobs.list(&JobFilter::default(), None, 9).await.unwrap().remove(0).id;
        let answer = here.jobs.wait(&id, PATIENCE).await.unwrap().unwrap();
        let ended_at = answer.as_i64().unwrap();
        assert!(ended_at > stopped_at, "a new generation: {ended_at} after {stopped_at}");

        fs::write(folder.path().join("go"), "").unwrap();
        process.signal(Signal::CONT);
        let lines = until("the woken worker to try, and to register anew", || async {
            let lines = told(folder.path());
            let tries = lines.iter().filter(|l| l.starts_with("settle")).count();
            let begins = lines.iter().filter(|l| l.starts_with("begin")).count();
            Some(lines).filter(|l| tries == begins && l.contains(&"registered anew".to_owned()))
        })
        .await;
        assert!(
            lines.contains(&"held false".to_owned()) && !lines.contains(&"held true".to_owned()),
            "its lease told it at once: {lines:?}"
        );
        assert!(lines.iter().filter(|l| l.starts_with("settle")).all(|l| l == "settle fenced"), "{lines:?}");
        assert_eq!(db.store.setting("stopped-worker").await.unwrap(), None);
        assert_eq!(db.store.setting("v1").await.unwrap(), Some(ended_at.to_string()));
        let row = here.row(&id).await;
        assert_eq!((row.state.as_str(), row.generation, row.outcome.as_deref()), ("done", ended_at, Some("ok")));
        assert_eq!(here.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), answer);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_on_postgres_is_replaced_when_its_lease_has_expired() {
    on_postgres(|db| async move {
        let folder = tempfile::tempdir().unwrap();
        let process = Process::start(&db.options.url, folder.path());
        until("the worker to begin", || async { begun(folder.path()) }).await;
        drop(process);
        let here = Worker::start(&db.store, options(), [task("work", |cx| settle(cx, json!("taken over")))]).await;
        let id = here.jobs.list(&JobFilter::default(), None, 9).await.unwrap().remove(0).id;
        assert_eq!(here.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!("taken over"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_on_sqlite_is_replaced_at_once() {
    let db = Db::sqlite().await;
    let folder = tempfile::tempdir().unwrap();
    let options = db.options.clone();
    db.store.close().await;
    let _place = db.place();
    drop(db); // and with it the file's lock
    let process = Process::start(&options.url, folder.path());
    until("the worker to begin", || async { begun(folder.path()) }).await;
    drop(process);
    let store = Store::open(&options).await.unwrap();
    let slow = JobsOptions { lease: PATIENCE * 10, poll: PATIENCE * 10, ..crate::harness::options() };
    let here = Worker::start(&store, slow, [task("work", |cx| settle(cx, json!("taken over")))]).await;
    let id = here.jobs.list(&JobFilter::default(), None, 9).await.unwrap().remove(0).id;
    assert_eq!(here.jobs.wait(&id, PATIENCE).await.unwrap().unwrap(), json!("taken over"));
}
