//! Plan after plan against one service, for as long as there is time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rand::Rng;
use support::db::is_wanted;

use crate::{
    block,
    diary::Counts,
    events::events_out_of_order,
    half::{Half, On},
    shares,
};

/// The plans of one test: one given seed again and again, or another seed each time until the time is over.
pub struct Seeds {
    given: Option<u64>,
    next: u64,
    left: u64,
    end: Instant,
}

impl Seeds {
    /// `seconds` for a test of this kind, unless the environment says otherwise.
    pub fn for_seconds(seconds: u64) -> Self {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name}={text}")));
        let seconds = number("STOWAGE_INTERLEAVE_SECONDS").unwrap_or(seconds);
        let full = std::env::var_os("STOWAGE_TEST_FULL").is_some_and(|v| !v.is_empty());
        let seconds = if full { 5 * seconds } else { seconds };
        let given = number("STOWAGE_SEED");
        Self {
            given,
            // short enough to be typed
            next: given.unwrap_or_else(|| rand::rng().random_range(1..1_000_000_000)),
            left: if given.is_some() { number("STOWAGE_ROUNDS").unwrap_or(10) } else { u64::MAX },
            end: Instant::now() + Duration::from_secs(seconds),
        }
    }
}

impl Iterator for Seeds {
    type Item = u64;
    fn next(&mut self) -> Option<u64> {
        if self.left == 0 || (self.given.is_none() && Instant::now() > self.end) {
            return None;
        }
        self.left -= 1;
        let seed = self.next;
        self.next = self.given.unwrap_or(seed + 1);
        Some(seed)
    }
}

async fn rounds<H: Half>(on: On, seconds: u64) {
    if !is_wanted(on.name()) {
        return;
    }
    let mut world = H::start(on, 1).await;
    let mut counts = Counts::default();
    for seed in Seeds::for_seconds(seconds) {
        eprintln!("{} on {} seed {seed}", H::NAME, on.name());
        let book = Arc::new(H::book(seed));
        for player in world.play(&book) {
            player.await.unwrap();
        }
        world.conclude(&book).await;
        counts.add(&book);
    }
    assert_eq!(events_out_of_order(&world.log()), Vec::<String>::new());
    counts.note(&format!("{} on {}", H::NAME, on.name()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_clients_and_a_failing_storage_leave_everything_true_on_sqlite() {
    rounds::<block::World>(On::Sqlite, 60).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_clients_and_a_failing_storage_leave_everything_true_on_postgres() {
    rounds::<block::World>(On::Postgres, 60).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_clients_of_shares_and_a_failing_storage_leave_everything_true_on_sqlite() {
    rounds::<shares::World>(On::Sqlite, 40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_clients_of_shares_and_a_failing_storage_leave_everything_true_on_postgres() {
    rounds::<shares::World>(On::Postgres, 40).await;
}
