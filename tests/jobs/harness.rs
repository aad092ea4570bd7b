//! Workers with scripted tasks over one database.

use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use stowage::{
    jobs::{JobContext, Jobs, JobsOptions, NewJob, Outcome, Registry, Task, TaskError},
    reconcile::Reconcilers,
    store::{Store, sql::jobs::JobFilter},
};
use tokio::sync::Semaphore;

/// Long enough that nothing in a test is found by polling.
pub const NEVER: Duration = Duration::from_secs(3600);
/// A test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What the scripted tasks work with.
pub struct Bench {
    pub store: Store,
    /// What runs wrote down, in the order of its happening.
    pub notes: Mutex<Vec<String>>,
    /// Closed at first; a task that waits at it goes on when a test opens it.
    pub gate: Semaphore,
    running: AtomicUsize,
    pub most_running: AtomicUsize,
}

impl Bench {
    pub fn note(&self, text: impl Into<String>) {
        self.notes.lock().unwrap().push(text.into());
    }
    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().clone()
    }
    /// Lets `n` waiting runs go on.
    pub fn open(&self, n: usize) {
        self.gate.add_permits(n);
    }
    pub async fn pass_gate(&self) {
        self.gate.acquire().await.unwrap().forget();
    }
    /// Counts runs at once until the guard is dropped.
    pub fn enter(self: &Arc<Self>) -> Inside {
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(now, Ordering::SeqCst);
        Inside(Arc::clone(self))
    }
    pub fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

pub struct Inside(Arc<Bench>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

pub type Context = JobContext<Bench>;
pub type Run = Result<Outcome, TaskError>;
type Script = Box<dyn Fn(Context) -> BoxFuture<'static, Run> + Send + Sync>;

/// A task whose two functions a test gives.
pub struct Scripted {
    kind: &'static str,
    run: Script,
    expire: Script,
}

impl Task<Bench> for Scripted {
    fn kind(&self) -> &'static str {
        self.kind
    }
    fn run<'a>(&'a self, cx: &'a Context) -> BoxFuture<'a, Run> {
        Box::pin(async move { (self.run)(cx.clone()).await })
    }
    fn expire<'a>(&'a self, cx: &'a Context) -> BoxFuture<'a, Run> {
        Box::pin(async move { (self.expire)(cx.clone()).await })
    }
}

/// A task that settles with `expired` when it is past its age.
pub fn task<F: Future<Output = Run> + Send + 'static>(kind: &'static str, run: impl Fn(Context) -> F + Send + Sync + 'static) -> Scripted {
    Scripted { kind, run: Box::new(move |cx| Box::pin(run(cx))), expire: Box::new(|cx| Box::pin(settle(cx, json!("expired")))) }
}

impl Scripted {
    pub fn on_expire<F: Future<Output = Run> + Send + 'static>(mut self, expire: impl Fn(Context) -> F + Send + Sync + 'static) -> Self {
        self.expire = Box::new(move |cx| Box::pin(expire(cx)));
        self
    }
}

/// Ends the job well; the same transaction writes the setting `<resource>` = worker's generation, for tests that look for traces.
pub async fn settle(cx: Context, answer: Value) -> Run {
    let mut tx = cx.app.store.begin().await?;
    tx.set_setting(&cx.job.resource_id, &cx.job.generation.to_string()).await?;
    cx.settle(tx, Ok(answer)).await?;
    Ok(Outcome::Settled)
}

/// One process's part: its queue, its tasks, its loops.
pub struct Worker {
    pub jobs: Jobs,
    pub bench: Arc<Bench>,
    pub loops: Reconcilers,
}

pub fn options() -> JobsOptions {
    JobsOptions {
        lease: Duration::from_secs(2),
        poll: Duration::from_millis(100),
        backoff: Duration::from_millis(20),
        ..JobsOptions::default()
    }
}

/// Options under which only a wake makes anything happen.
pub fn never_polling() -> JobsOptions {
    JobsOptions { poll: NEVER, lease: NEVER, ..options() }
}

impl Worker {
    pub async fn start(store: &Store, options: JobsOptions, tasks: impl IntoIterator<Item = Scripted>) -> Self {
        let bench = Arc::new(Bench {
            store: store.clone(),
            notes: Mutex::default(),
            gate: Semaphore::new(0),
            running: AtomicUsize::new(0),
            most_running: AtomicUsize::new(0),
        });
        let mut registry = Registry::default();
        for t in tasks {
            registry.add(Arc::new(t));
        }
        let jobs = Jobs::new(store.clone(), options);
        jobs.start(&bench, registry).await.unwrap();
        let loops = Reconcilers::default();
        loops.start_builtin(store, &jobs);
        Self { jobs, bench, loops }
    }

    /// Commits a job by itself; its id.
    pub async fn enqueue(&self, job: NewJob) -> String {
        enqueue(&self.jobs, job).await
    }

    /// Commits a job and waits for its answer.
    pub async fn answer(&self, job: NewJob) -> Value {
        let id = self.enqueue(job).await;
        self.jobs.wait(&id, PATIENCE).await.expect("the job ends").expect("the job ends well")
    }

    /// As kill -9 does.
    pub async fn die(&self) {
        self.jobs.abandon();
        self.loops.stop().await;
    }

    /// The one row of a job, for its state and reason.
    pub async fn row(&self, id: &str) -> stowage::store::sql::jobs::JobRow {
        let rows = self.jobs.list(&JobFilter::default(), None, 1000).await.unwrap();
        rows.into_iter().find(|r| r.id == id).expect("the job's row")
    }
}

pub async fn enqueue(jobs: &Jobs, job: NewJob) -> String {
    let mut tx = jobs.store().begin().await.unwrap();
    let id = tx.enqueue(jobs, job).await.unwrap();
    tx.commit().await.unwrap();
    id
}

pub fn job(kind: &'static str, resource: &str) -> NewJob {
    NewJob {
        kind,
        resource_kind: "volume",
        order_key: resource.into(),
        resource_id: resource.into(),
        backend: Some("stowage@a".into()),
        payload: json!({}),
        max_age: PATIENCE * 4,
        request_id: "req-1".into(),
        project_id: "p1".into(),
        user_id: "u1".into(),
    }
}

pub fn on_backend(backend: &str, job: NewJob) -> NewJob {
    NewJob { backend: Some(backend.into()), ..job }
}
