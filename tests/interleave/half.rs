//! What a half of the suite is to those who play it.

use std::{ops::Deref, sync::Arc};

use rand::{SeedableRng, rngs::StdRng};
use support::Process;
use tokio::task::JoinHandle;

use crate::diary::Diary;

/// After this long a job gives its resource an end state.
pub const MAX_AGE: std::time::Duration = std::time::Duration::from_secs(20);
/// How long a silent process keeps its jobs.
pub const LEASE: std::time::Duration = std::time::Duration::from_secs(2);
/// Clients at once.
pub const CLIENTS: usize = 8;

/// The steps of every client, each dealt by its number from dice of the client's own.
pub fn deal_all<S>(seed: u64, steps: usize, deal: impl Fn(usize, usize, &mut StdRng) -> S) -> Vec<Vec<S>> {
    let of = |client: usize| {
        // a stream of its own, so that a client's first steps do not depend on how many there are
        let mut dice = StdRng::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(client as u64));
        (0..steps).map(|n| deal(client, n, &mut dice)).collect()
    };
    (0..CLIENTS).map(of).collect()
}

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Sqlite,
    Postgres,
}

impl On {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// The arrays and services of one half, on which one plan after the other is played.
pub trait Half: Sized {
    /// Its word for the counts.
    const NAME: &'static str;
    /// Steps of one client in one plan.
    const STEPS: usize;
    /// A plan that is being played, with what its clients know.
    type Book: Deref<Target = Diary> + Send + Sync;

    async fn start(on: On, services: usize) -> Self;
    fn book(seed: u64) -> Self::Book;
    /// Every client begins its steps.
    fn play(&self, book: &Arc<Self::Book>) -> Vec<JoinHandle<()>>;
    /// What the end of a plan is compared with, and the end of everything it made. Ends the test if anything is broken.
    async fn conclude(&mut self, book: &Self::Book);
    fn services(&self) -> &[Process];
    fn services_mut(&mut self) -> &mut Vec<Process>;

    /// What every service logged.
    fn log(&self) -> String {
        self.services().iter().map(Process::log).collect()
    }
}
