//! What the clients of a plan wrote down, and how much of it there was.

use std::{
    fmt::{Display, Write as _},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// A step that was taken.
struct Line {
    from: Duration,
    to: Duration,
    client: usize,
    number: usize,
    text: String,
}

/// One played plan, as far as it does not matter what it is about.
pub struct Diary {
    pub seed: u64,
    began: Instant,
    /// Clients that are inside a step about a slot now.
    inside: Vec<AtomicUsize>,
    lines: Mutex<Vec<Line>>,
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
    /// Pairs of steps of two clients about one resource, of which one began while the other was not answered yet.
    pub interleavings: u64,
    pub kills: u64,
}

impl Counts {
    pub fn add(&mut self, diary: &Diary) {
        self.plans += 1;
        self.operations += diary.steps.load(Ordering::SeqCst);
        self.accepted += diary.accepted.load(Ordering::SeqCst);
        self.interleavings += diary.met.load(Ordering::SeqCst);
    }

    /// Tells them to whoever runs the suites.
    pub fn note(&self, test: &str) {
        let Self { plans, operations, accepted, interleavings, kills } = self;
        let killed = if *kills > 0 { format!(", {kills} kills") } else { String::new() };
        let text = format!(
            "interleave {test}: {plans} plans, {operations} operations ({accepted} accepted), {interleavings} interleavings on one resource{killed}\n"
        );
        eprint!("{text}");
        if let Some(file) = std::env::var_os("STOWAGE_TEST_NOTES") {
            let mut notes = std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
            std::io::Write::write_all(&mut notes, text.as_bytes()).unwrap();
        }
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Inside a step about a slot.
pub struct Inside<'b>(&'b AtomicUsize);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Diary {
    pub fn new(seed: u64, slots: usize) -> Self {
        Self {
            seed,
            began: Instant::now(),
            inside: (0..slots).map(|_| AtomicUsize::new(0)).collect(),
            lines: Mutex::default(),
            broken: Mutex::default(),
            disturbed: AtomicBool::new(false),
            steps: AtomicU64::new(0),
            accepted: AtomicU64::new(0),
            met: AtomicU64::new(0),
        }
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
    pub fn write(&self, client: usize, number: usize, began: Instant, step: &dyn Display, outcome: &str) {
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
        let mut text = format!("\nseed {0}: play it again with STOWAGE_SEED={0}\n", self.seed);
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

    /// Ends the test if anything is broken.
    #[track_caller]
    pub fn demand(&self, mut broken: Vec<String>, log: impl FnOnce() -> String) {
        broken.splice(0..0, self.broken());
        if broken.is_empty() {
            return;
        }
        let log = log();
        let file = std::env::temp_dir().join(format!("stowage-interleave-{}.log", self.seed));
        std::fs::write(&file, &log).unwrap();
        panic!("{}\nthe whole log: {}", self.report(&broken, &log), file.display());
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
