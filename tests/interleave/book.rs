//! What the clients share, and what they wrote down.

use std::{
    collections::HashSet,
    fmt::Write as _,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use crate::plan::{Plan, SLOTS, Step};

/// The volume in a slot, and what is known to be on it. May be out of date: that is the point.
#[derive(Debug, Clone, Default)]
pub struct Slot {
    pub volume: Option<String>,
    pub attachments: Vec<String>,
    pub snapshots: Vec<String>,
    /// Its last offer, and the key.
    pub offer: Option<(String, String)>,
}

/// What is not the service's word.
#[derive(Debug, Default)]
pub struct Doubts {
    /// Volumes that an operator gave another status.
    pub told: HashSet<String>,
    /// Attachments whose delete, or connect to another host, was answered with an error or not at all: the connection that they
    /// had may have ended.
    pub moves: HashSet<String>,
    /// Volumes of which an older action that ends connections was answered so: nobody named an attachment.
    pub let_go: HashSet<String>,
}

/// A step that was taken.
struct Line {
    from: Duration,
    to: Duration,
    client: usize,
    number: usize,
    text: String,
}

/// One played plan.
pub struct Book {
    pub plan: Plan,
    began: Instant,
    slots: [Mutex<Slot>; SLOTS],
    /// Clients that are inside a step about a slot now.
    inside: [AtomicUsize; SLOTS],
    lines: Mutex<Vec<Line>>,
    doubts: Mutex<Doubts>,
    broken: Mutex<Vec<String>>,
    /// A service was killed: a request may stay without an answer.
    disturbed: AtomicBool,
    steps: AtomicU64,
    accepted: AtomicU64,
    met: AtomicU64,
}

/// What was done, over all plans.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub plans: u64,
    /// Requests that change something, answered in whatever way.
    pub operations: u64,
    /// Of these, accepted.
    pub accepted: u64,
    /// Pairs of steps of two clients about one volume, of which one began while the other was not answered yet.
    pub interleavings: u64,
    pub kills: u64,
}

impl Counts {
    pub fn add(&mut self, book: &Book) {
        self.plans += 1;
        self.operations += book.steps.load(Ordering::SeqCst);
        self.accepted += book.accepted.load(Ordering::SeqCst);
        self.interleavings += book.met.load(Ordering::SeqCst);
    }

    /// Tells them to whoever runs the suites.
    pub fn note(&self, test: &str) {
        let Self { plans, operations, accepted, interleavings, kills } = self;
        let killed = if *kills > 0 { format!(", {kills} kills") } else { String::new() };
        let text = format!(
            "interleave {test}: {plans} plans, {operations} operations ({accepted} accepted), {interleavings} interleavings on one volume{killed}\n"
        );
        eprint!("{text}");
        if let Some(file) = std::env::var_os("STOWAGE_TEST_NOTES") {
            let mut notes = std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
            std::io::Write::write_all(&mut notes, text.as_bytes()).unwrap();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Inside a step about a slot.
pub struct Inside<'b>(&'b AtomicUsize);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Book {
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            began: Instant::now(),
            slots: Default::default(),
            inside: Default::default(),
            lines: Mutex::default(),
            doubts: Mutex::default(),
            broken: Mutex::default(),
            disturbed: AtomicBool::new(false),
            steps: AtomicU64::new(0),
            accepted: AtomicU64::new(0),
            met: AtomicU64::new(0),
        }
    }

    pub fn slot(&self, n: usize) -> MutexGuard<'_, Slot> {
        lock(&self.slots[n])
    }
    pub fn doubts(&self) -> MutexGuard<'_, Doubts> {
        lock(&self.doubts)
    }
    pub fn was_told(&self, volume: &str) -> bool {
        self.doubts().told.contains(volume)
    }
    pub fn enter(&self, slot: usize) -> Inside<'_> {
        self.met.fetch_add(self.inside[slot].fetch_add(1, Ordering::SeqCst) as u64, Ordering::SeqCst);
        Inside(&self.inside[slot])
    }
    pub fn count(&self, accepted: bool) {
        self.steps.fetch_add(1, Ordering::SeqCst);
        self.accepted.fetch_add(u64::from(accepted), Ordering::SeqCst);
    }

    /// How far the plan is, in steps.
    pub fn progress(&self) -> usize {
        lock(&self.lines).len()
    }
    pub fn write(&self, client: usize, number: usize, began: Instant, step: &Step, outcome: &str) {
        let (from, to) = (began - self.began, self.began.elapsed());
        lock(&self.lines).push(Line { from, to, client, number, text: format!("{step}: {outcome}") });
    }
    pub fn is_disturbed(&self) -> bool {
        self.disturbed.load(Ordering::SeqCst)
    }
    /// Something is about to happen to a service.
    pub fn remark(&self, text: &str) {
        self.disturbed.store(true, Ordering::SeqCst);
        let at = self.began.elapsed();
        lock(&self.lines).push(Line { from: at, to: at, client: usize::MAX, number: 0, text: text.to_owned() });
    }
    pub fn breaks(&self, what: impl Into<String>) {
        lock(&self.broken).push(what.into());
    }
    pub fn broken(&self) -> Vec<String> {
        lock(&self.broken).clone()
    }

    /// Everything a reader needs: the seed, what broke, what was done about the things named there, and all steps.
    pub fn report(&self, broken: &[String], log: &str) -> String {
        let mut text = format!("\nseed {0}: play it again with STOWAGE_SEED={0}\n", self.plan.seed);
        for what in broken {
            let _ = writeln!(text, "BROKEN {what}");
        }
        let mut lines = lock(&self.lines);
        lines.sort_by_key(|l| l.to);
        let show = |text: &mut String, l: &Line| {
            let who = if l.client == usize::MAX { "  the test".to_owned() } else { format!("client {} step {:2}", l.client, l.number) };
            let _ = writeln!(text, "{:8.3}-{:8.3} {who} {}", l.from.as_secs_f64(), l.to.as_secs_f64(), l.text);
        };
        let ids = ids(broken);
        for id in &ids {
            let _ = writeln!(text, "--- about {id}");
            lines.iter().filter(|l| l.text.contains(id.as_str()) || l.client == usize::MAX).for_each(|l| show(&mut text, l));
            log.lines().filter(|l| l.contains(id.as_str())).for_each(|l| {
                let _ = writeln!(text, "log: {}", l.chars().take(700).collect::<String>());
            });
        }
        let _ = writeln!(text, "--- every step, in the order of the answers");
        lines.iter().for_each(|l| show(&mut text, l));
        text
    }
}

/// The ids named in what broke, at most six of them.
fn ids(broken: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in broken.iter().flat_map(|b| b.split(|c: char| !c.is_ascii_hexdigit() && c != '-')) {
        if uuid::Uuid::parse_str(word).is_ok() && word.len() == 36 && found.len() < 6 && !found.iter().any(|f| f == word) {
            found.push(word.to_owned());
        }
    }
    found
}
