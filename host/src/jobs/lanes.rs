//! How many jobs of one back end run in this process at once.
//!
//! Every back end has a budget of its own and there is no pool above them: a back end whose calls hang fills its own lane
//! and nobody else's. When jobs wait in the table for room in a lane, newly inserted ones queue behind them instead of
//! taking the next free slot.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// The budgets and what is in use of them.
#[derive(Debug)]
pub(super) struct Lanes {
    state: Mutex<State>,
    /// Wakes the poller: a slot came free in a lane with a backlog.
    pub(super) wake: Notify,
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
}

/// Room for one running job; given back when dropped.
#[derive(Debug)]
pub(super) struct Slot {
    lanes: Arc<Lanes>,
    backend: String,
}

impl Slot {
    pub(super) fn backend(&self) -> &str {
        &self.backend
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.lanes.lock();
        if let Some(lane) = state.lanes.get_mut(&self.backend) {
            lane.running = lane.running.saturating_sub(1);
            if lane.backlog {
                self.lanes.wake.notify_one();
            }
        }
    }
}

impl Lanes {
    pub(super) fn new(per_backend: usize, unplaced: usize) -> Self {
        Self { state: Mutex::new(State { per_backend, unplaced, own: HashMap::new(), lanes: HashMap::new() }), wake: Notify::new() }
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
        let budget = state.budget(backend);
        let lane = state.lanes.entry(backend.to_owned()).or_default();
        if lane.backlog || lane.running >= budget {
            lane.backlog = true;
            return None;
        }
        lane.running += 1;
        Some(Slot { lanes: Arc::clone(self), backend: backend.to_owned() })
    }

    /// All the room a lane has, for jobs that wait in the table.
    pub(super) fn take_all(self: &Arc<Self>, backend: &str) -> Vec<Slot> {
        let mut state = self.lock();
        let budget = state.budget(backend);
        let lane = state.lanes.entry(backend.to_owned()).or_default();
        let free = budget.saturating_sub(lane.running);
        lane.running += free;
        lane.backlog |= free == 0;
        (0..free).map(|_| Slot { lanes: Arc::clone(self), backend: backend.to_owned() }).collect()
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
