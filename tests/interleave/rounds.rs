//! Plan after plan against one service, for as long as there is time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rand::Rng;
use support::db::is_wanted;

use crate::{
    book::{Book, Counts},
    drain::drain,
    plan::Plan,
    play::play,
    quiet::quiet,
    truth::{events_out_of_order, violations},
    world::{On, World},
};

/// Steps of one client in one plan.
pub const STEPS: usize = 50;

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

/// What the end of a plan is compared with, and the end of everything it made.
pub async fn conclude(world: &mut World, book: &Book) {
    let left = quiet(world).await;
    world.demand(book, left);
    let broken = violations(world, book).await;
    world.demand(book, broken);
    if !world.recounted {
        // needs SQLite for itself, so once is enough
        let broken = world.recount().await;
        world.demand(book, broken);
    }
    let left = drain(world).await;
    world.demand(book, left);
}

async fn rounds(on: On) {
    if !is_wanted(on.name()) {
        return;
    }
    let mut world = World::start(on, 1).await;
    let mut counts = Counts::default();
    for seed in Seeds::for_seconds(60) {
        eprintln!("{} seed {seed}", on.name());
        let book = Arc::new(Book::new(Plan::of(seed, STEPS)));
        play(&world, &book).await;
        conclude(&mut world, &book).await;
        counts.add(&book);
    }
    assert_eq!(events_out_of_order(&world.log()), Vec::<String>::new());
    counts.note(on.name());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_clients_and_a_failing_storage_leave_everything_true_on_sqlite() {
    rounds(On::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_clients_and_a_failing_storage_leave_everything_true_on_postgres() {
    rounds(On::Postgres).await;
}
