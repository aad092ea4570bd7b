//! The half of shares, access rules, snapshots, share networks and share servers: on one back end that exports shares itself,
//! and two that build share servers. Back ends are ensured meanwhile, idle servers are swept away, operators delete servers.

mod book;
mod checks;
mod drain;
mod plan;
mod play;
mod sweep;
mod truth;
mod verdict;
mod world;

use std::sync::Arc;

use support::Process;
use tokio::task::JoinHandle;

pub use self::world::World;
use self::{book::Book, drain::drain, plan::Plan, sweep::sweep, truth::violations};
use crate::{
    half::{Half, On},
    quiet::quiet,
};

impl Half for World {
    const NAME: &'static str = "shares";
    const STEPS: usize = 50;
    type Book = Book;

    async fn start(on: On, services: usize) -> Self {
        Self::start(on, services).await
    }
    fn book(seed: u64) -> Book {
        Book::new(Plan::of(seed, Self::STEPS))
    }
    fn play(&self, book: &Arc<Book>) -> Vec<JoinHandle<()>> {
        play::start(self, book)
    }
    async fn conclude(&mut self, book: &Book) {
        let left = quiet(&self.arrays, &self.database).await;
        book.demand(left, || self.log());
        let mut left = sweep(self).await;
        left.extend(quiet(&self.arrays, &self.database).await);
        book.demand(left, || self.log());
        let broken = violations(self, book).await;
        book.demand(broken, || self.log());
        if !self.recounted {
            // needs SQLite for itself, so once is enough
            let broken = self.recount().await;
            book.demand(broken, || self.log());
        }
        let left = drain(self).await;
        book.demand(left, || self.log());
    }
    fn services(&self) -> &[Process] {
        &self.services
    }
    fn services_mut(&mut self) -> &mut Vec<Process> {
        &mut self.services
    }
}
