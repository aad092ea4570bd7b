//! What the clients share, and what they wrote down.

use std::{
    collections::HashSet,
    ops::Deref,
    sync::{Mutex, MutexGuard},
};

use super::plan::{Plan, SLOTS};
use crate::diary::{Diary, lock};

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

/// One played plan.
pub struct Book {
    pub plan: Plan,
    diary: Diary,
    slots: [Mutex<Slot>; SLOTS],
    doubts: Mutex<Doubts>,
}

impl Deref for Book {
    type Target = Diary;
    fn deref(&self) -> &Diary {
        &self.diary
    }
}

impl Book {
    pub fn new(plan: Plan) -> Self {
        Self { diary: Diary::new(plan.seed, SLOTS), plan, slots: Default::default(), doubts: Mutex::default() }
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
}
