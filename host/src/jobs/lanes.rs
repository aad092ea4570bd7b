//! How many jobs of one back end run in this process at once.
//!
//! Every back end has a budget of its own and there is no pool above them: a back end whose calls hang fills its own lane
//! and nobody else's. When jobs wait in the table for room in a lane, newly inserted ones queue behind them instead of
//! taking the next free slot. A running job that comes to work with another back end moves to its lane first
//! ([`Slot::move_to`]); if there is no room it goes back to the table and waits there like the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;

/// How long a running job waits for room in another lane before it goes back to the table. Back ends that answer at once
/// come free within it; in front of one that hangs it costs the old lane this long and no more.
const BRIEFLY: Duration = Duration::from_millis(50);

/// The budgets and what is in use of them.
#[derive(Debug)]
pub(super) struct Lanes {
    state: Mutex<State>,
    /// Wakes the poller: a slot came free in a lane with a backlog.
    pub(super) wake: Notify,
    /// A slot came free somewhere, for those who wait in [`Slot::move_to`].
    freed: Notify,
}

#[derive(Debug)]
struct State {
    per_backend: usize,
    unplaced: usize,
    own: HashMap<String, usize>,
    lanes: HashMap<String, Lane>,
}

#[derive(Debug, Default)]
struct Lane {
    running: usize,
    /// Jobs wait in the table for room.
    backlog: bool,
}

impl State {
    fn budget(&self, backend: &str) -> usize {
        if backend.is_empty() { self.unplaced } else { self.own.get(backend).copied().unwrap_or(self.per_backend) }
    }

    /// False when the lane is full, or others wait in the table for its next slot.
    fn enter(&mut self, backend: &str) -> bool {
        let budget = self.budget(backend);
        let lane = self.lanes.entry(backend.to_owned()).or_default();
        if lane.backlog || lane.running >= budget {
            return false;
        }
        lane.running += 1;
        true
    }

    /// Whether jobs wait in the table for what has come free.
    fn leave(&mut self, backend: &str) -> bool {
        let Some(lane) = self.lanes.get_mut(backend) else { return false };
        lane.running = lane.running.saturating_sub(1);
        lane.backlog
    }
}

/// Room for one running job; given back when dropped.
#[derive(Debug)]
pub(super) struct Slot {
    lanes: Arc<Lanes>,
    place: Mutex<Place>,
}

#[derive(Debug)]
struct Place {
    backend: String,
    /// Whose lane the job goes back to the table for, when that is not decided by its row.
    next: Option<String>,
}

impl Slot {
    fn new(lanes: &Arc<Lanes>, backend: &str) -> Self {
        Self { lanes: Arc::clone(lanes), place: Mutex::new(Place { backend: backend.to_owned(), next: None }) }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn backend(&self) -> String {
        self.place().backend.clone()
    }

    /// Gives this room back for room in another back end's lane. False: there was none within a moment, the slot is what it
    /// was, and the job waits for that lane from its next release on.
    pub(super) async fn move_to(&self, backend: &str) -> bool {
        let end = tokio::time::Instant::now() + BRIEFLY;
        loop {
            let freed = self.lanes.freed.notified();
            tokio::pin!(freed);
            // from here on a slot that comes free is not missed
            freed.as_mut().enable();
            if self.try_move(backend) {
                return true;
            }
            if tokio::time::timeout_at(end, freed).await.is_err() {
                self.lanes.set_backlog(backend, true);
                self.move_later(backend);
                return false;
            }
        }
    }

    fn try_move(&self, backend: &str) -> bool {
        let mut place = self.place();
        if place.backend != backend {
            let mut state = self.lanes.lock();
            if !state.enter(backend) {
                return false;
            }
            let wake = state.leave(&place.backend);
            drop(state);
            self.lanes.came_free(wake);
            backend.clone_into(&mut place.backend);
        }
        place.next = Some(backend.to_owned());
        true
    }

    /// When the job goes back to the table, it waits for this back end's lane; empty: for the one of jobs without a back end.
    pub(super) fn move_later(&self, backend: &str) {
        self.place().next = Some(backend.to_owned());
    }

    /// Where [`Self::move_to`] or [`Self::move_later`] sent the job.
    pub(super) fn next(&self) -> Option<String> {
        self.place().next.clone()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let place = self.place.get_mut().unwrap_or_else(PoisonError::into_inner);
        let wake = self.lanes.lock().leave(&place.backend);
        self.lanes.came_free(wake);
    }
}

impl Lanes {
    pub(super) fn new(per_backend: usize, unplaced: usize) -> Self {
        let state = State { per_backend, unplaced, own: HashMap::new(), lanes: HashMap::new() };
        Self { state: Mutex::new(state), wake: Notify::new(), freed: Notify::new() }
    }

    fn came_free(&self, wake_poller: bool) {
        if wake_poller {
            self.wake.notify_one();
        }
        self.freed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives one back end a budget of its own, or the default again.
    pub(super) fn set_budget(&self, backend: &str, budget: Option<usize>) {
        let mut state = self.lock();
        match budget {
            Some(n) => state.own.insert(backend.to_owned(), n.max(1)),
            None => state.own.remove(backend),
        };
        self.wake.notify_one();
    }

    /// Room for a job that is being inserted; none when the lane is full or others wait already.
    pub(super) fn take_for_new(self: &Arc<Self>, backend: &str) -> Option<Slot> {
        let mut state = self.lock();
        if state.enter(backend) {
            return Some(Slot::new(self, backend));
        }
        state.lanes.entry(backend.to_owned()).or_default().backlog = true;
        None
    }

    /// All the room a lane has, for jobs that wait in the table.
    pub(super) fn take_all(self: &Arc<Self>, backend: &str) -> Vec<Slot> {
        let mut state = self.lock();
        let budget = state.budget(backend);
        let lane = state.lanes.entry(backend.to_owned()).or_default();
        let free = budget.saturating_sub(lane.running);
        lane.running += free;
        lane.backlog |= free == 0;
        (0..free).map(|_| Slot::new(self, backend)).collect()
    }

    /// Whether jobs still wait in the table for room, as a claim has just seen.
    pub(super) fn set_backlog(&self, backend: &str, backlog: bool) {
        self.lock().lanes.entry(backend.to_owned()).or_default().backlog = backlog;
    }

    /// Running jobs by back end.
    pub(super) fn running(&self) -> Vec<(String, usize)> {
        self.lock().lanes.iter().map(|(backend, lane)| (backend.clone(), lane.running)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_lane_leaves_other_lanes_their_room() {
        let lanes = Arc::new(Lanes::new(2, 8));
        let held: Vec<_> = (0..2).filter_map(|_| lanes.take_for_new("a")).collect();
        assert_eq!(held.len(), 2);
        assert!(lanes.take_for_new("a").is_none());
        assert!(lanes.take_for_new("b").is_some());
    }

    #[test]
    fn a_new_job_does_not_overtake_the_ones_that_wait_for_room() {
        let lanes = Arc::new(Lanes::new(1, 8));
        let slot = lanes.take_for_new("a");
        assert!(lanes.take_for_new("a").is_none());
        drop(slot);
        assert!(lanes.take_for_new("a").is_none(), "the free slot belongs to the backlog");
        assert_eq!(lanes.take_all("a").len(), 1);
        lanes.set_backlog("a", false);
        assert!(lanes.take_for_new("a").is_some());
    }

    #[tokio::test]
    async fn a_running_job_takes_its_room_along_to_another_lane() {
        let lanes = Arc::new(Lanes::new(1, 1));
        let slot = lanes.take_for_new("").unwrap();
        assert!(slot.move_to("a").await);
        assert_eq!((slot.backend().as_str(), slot.next().as_deref()), ("a", Some("a")));
        assert!(lanes.take_for_new("").is_some(), "the lane it left has room again");
        assert!(lanes.take_for_new("a").is_none(), "the lane it came to is full");
        drop(slot);
        assert_eq!(lanes.running().iter().map(|(_, n)| n).sum::<usize>(), 0);
    }

    #[tokio::test]
    async fn a_running_job_finds_a_full_lane_full_and_is_waited_for_there() {
        let lanes = Arc::new(Lanes::new(1, 1));
        let held = lanes.take_for_new("a");
        let slot = lanes.take_for_new("").unwrap();
        assert!(!slot.move_to("a").await);
        assert_eq!((slot.backend().as_str(), slot.next().as_deref()), ("", Some("a")));
        drop(held);
        assert!(lanes.take_for_new("a").is_none(), "the free slot belongs to the job that went back to the table");
    }

    #[tokio::test]
    async fn room_that_comes_free_within_a_moment_is_taken_at_once() {
        let lanes = Arc::new(Lanes::new(1, 1));
        let held = lanes.take_for_new("a");
        let slot = lanes.take_for_new("").unwrap();
        let (moved, ()) = tokio::join!(slot.move_to("a"), async { drop(held) });
        assert!(moved);
    }

    #[test]
    fn a_smaller_budget_holds_back_new_jobs_only() {
        let lanes = Arc::new(Lanes::new(4, 8));
        let held = lanes.take_all("a");
        lanes.set_budget("a", Some(2));
        assert_eq!(held.len(), 4);
        assert!(lanes.take_all("a").is_empty());
        drop(held);
        assert_eq!(lanes.take_all("a").len(), 2);
    }
}
