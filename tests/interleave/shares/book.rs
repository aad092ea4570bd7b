//! What the clients share, and what they wrote down.

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{Mutex, MutexGuard},
};

use super::plan::{NETS, Plan, SLOTS};
use crate::diary::{Diary, lock};

/// The share in a slot, and what is known to be on it. May be out of date: that is the point.
#[derive(Debug, Clone, Default)]
pub struct Slot {
    pub share: Option<String>,
    pub rules: Vec<String>,
    pub snapshots: Vec<String>,
    /// A snapshot and a rule of it.
    pub snapshot_rules: Vec<(String, String)>,
}

/// A share network, likewise.
#[derive(Debug, Clone, Default)]
pub struct Net {
    pub network: Option<String>,
    pub subnets: Vec<String>,
}

/// One played plan.
pub struct Book {
    pub plan: Plan,
    diary: Diary,
    slots: [Mutex<Slot>; SLOTS],
    nets: [Mutex<Net>; NETS],
    /// How often an operator said, or may have said, of a share or a server what it is.
    told: Mutex<HashMap<String, u32>>,
}

impl Deref for Book {
    type Target = Diary;
    fn deref(&self) -> &Diary {
        &self.diary
    }
}

impl Book {
    pub fn new(plan: Plan) -> Self {
        Self {
            diary: Diary::new(plan.seed, SLOTS + NETS),
            plan,
            slots: Default::default(),
            nets: Default::default(),
            told: Mutex::default(),
        }
    }

    pub fn slot(&self, n: usize) -> MutexGuard<'_, Slot> {
        lock(&self.slots[n])
    }
    pub fn net(&self, n: usize) -> MutexGuard<'_, Net> {
        lock(&self.nets[n])
    }
    /// An operator is about to say something of it.
    pub fn tell(&self, id: &str) {
        *lock(&self.told).entry(id.to_owned()).or_default() += 1;
    }
    /// What he was about to say was refused.
    pub fn untell(&self, id: &str) {
        if let Some(times) = lock(&self.told).get_mut(id) {
            *times -= 1;
        }
    }
    pub fn was_told(&self, id: &str) -> bool {
        lock(&self.told).get(id).is_some_and(|times| *times > 0)
    }
}
