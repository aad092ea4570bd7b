//! What initiators see: targets, LUNs, accounts and rights in `tgtd`, made to be what the records say.
//!
//! **Every target is one initiator's.** It has one account and admits one initiator name. In the layout `target-per-volume` it
//! holds one volume, in `target-per-initiator` all volumes attached to that initiator; nothing else differs. So no initiator
//! ever sees a LUN that is not attached to it, and taking one away touches no other. (A target that several initiators share
//! would need several accounts, and `tgtd` loses one of them when another is removed, or dies; and a log-in that was half done
//! when its right was taken could be finished later. See docs/adr/0009.)
//!
//! Level-triggered: [`Exports::apply`] compares one target with the records and does what is missing, whoever asks: a verb, the
//! restore after a new daemon, the periodic check. It may be repeated at any time.
//! On failure the target counts as unknown and is looked at before the next step.

mod lun;
mod reconcile;
mod target;
mod wanted;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::OwnedMutexGuard;

pub use wanted::Key;

use super::{
    disk::Disk,
    refusal::{Refusal, Result},
    state::Records,
    tgt::{Client, Daemon, TgtError},
};
use target::Present;

/// How long one step waits for sessions to end.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub struct Exports {
    daemon: Arc<Daemon>,
    client: Client,
    records: Arc<Records>,
    disk: Disk,
    /// Of every target's name.
    pub prefix: String,
    slots: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Slot>>>>,
}

/// What is known of one target in one epoch of the daemon. Its lock is held while the target is changed.
#[derive(Debug, Default)]
pub struct Slot {
    epoch: u64,
    seen: Seen,
}

#[derive(Debug, Default)]
enum Seen {
    #[default]
    Unknown,
    Absent,
    Present(Present),
}

/// A target nobody else changes meanwhile.
pub struct Held {
    key: Key,
    slot: OwnedMutexGuard<Slot>,
}

impl Exports {
    pub fn new(daemon: Arc<Daemon>, records: Arc<Records>, disk: Disk) -> Self {
        let prefix = format!("iqn.2026-01.dev.stowage:{}", records.node_id);
        Self { client: daemon.client.clone(), daemon, records, disk, prefix, slots: Mutex::default() }
    }

    /// Keeps others from changing the target.
    pub async fn hold(&self, key: Key) -> Held {
        let slot = self.slot(&key.name(&self.prefix)).lock_owned().await;
        Held { key, slot }
    }

    fn slot(&self, name: &str) -> Arc<tokio::sync::Mutex<Slot>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(name.to_owned()).or_default())
    }

    /// Forgets a target that is not there and that nobody waits for.
    fn tidy(&self, name: &str) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = slots.get(name).is_some_and(|s| Arc::strong_count(s) == 1 && s.try_lock().is_ok_and(|s| matches!(s.seen, Seen::Absent)));
        if idle {
            slots.remove(name);
        }
    }

    /// Makes the target what the records say.
    ///
    /// # Errors
    /// `transient` when the daemon is down for longer than a moment or sessions do not end; `internal` when it refuses. A LUN
    /// that cannot be shown, for its file is gone, is an error only when it `matters`: other volumes' faults are not the caller's.
    pub async fn apply(&self, key: Key, matters: impl Fn(u32) -> bool) -> Result<()> {
        let held = self.hold(key).await;
        self.apply_held(held, matters).await
    }

    /// The same, for a target that is held already.
    ///
    /// # Errors
    /// As there.
    pub async fn apply_held(&self, mut held: Held, matters: impl Fn(u32) -> bool) -> Result<()> {
        let name = held.key.name(&self.prefix);
        let outcome = self.converge(&mut held.slot, &name, |e: &Self| held.key.wanted(&e.records, &e.disk)).await;
        drop(held);
        self.tidy(&name);
        outcome?.into_iter().find(|(number, _)| matters(*number)).map_or(Ok(()), |(_, e)| Err(e))
    }

    /// As [`Exports::apply`], after looking at what is really there.
    ///
    /// # Errors
    /// As there.
    pub async fn verify(&self, key: Key, matters: impl Fn(u32) -> bool) -> Result<()> {
        let mut held = self.hold(key).await;
        held.slot.seen = Seen::Unknown;
        self.apply_held(held, matters).await
    }

    /// Says which LUNs cannot be shown; everything else is as it should be then.
    async fn converge(&self, slot: &mut Slot, name: &str, wanted: impl Fn(&Self) -> Option<wanted::Wanted>) -> Result<Vec<(u32, Refusal)>> {
        let mut last = None;
        for _ in 0..4 {
            let (epoch, fresh) = self.daemon.up()?;
            if slot.epoch != epoch {
                *slot = Slot { epoch, seen: if fresh { Seen::Absent } else { Seen::Unknown } };
            }
            match self.step(slot, name, wanted(self)).await {
                Ok(()) => {
                    return Ok(match &mut slot.seen {
                        Seen::Present(present) => std::mem::take(&mut present.broken),
                        Seen::Unknown | Seen::Absent => Vec::new(),
                    });
                }
                Err(Failure::Tgt(e)) => {
                    slot.seen = Seen::Unknown;
                    tracing::debug!(target_name = name, error = %e, source = ?e.code(), "a step failed; the target is looked at again");
                    match &e {
                        TgtError::Down(_) => self.daemon.later_than(epoch, Duration::from_secs(5)).await,
                        TgtError::Garbled(_) => {
                            self.daemon.replace();
                            self.daemon.later_than(epoch, Duration::from_secs(5)).await;
                        }
                        TgtError::TimedOut | TgtError::Refused { .. } => {}
                    }
                    last = Some(e);
                }
                Err(Failure::Refusal(e)) => {
                    slot.seen = Seen::Unknown;
                    return Err(e);
                }
            }
        }
        Err(last.map_or_else(|| Refusal::internal("nothing was tried"), refusal))
    }

    async fn step(&self, slot: &mut Slot, name: &str, wanted: Option<wanted::Wanted>) -> Result<(), Failure> {
        if matches!(slot.seen, Seen::Unknown) {
            slot.seen = match self.client.show().await?.targets.remove(name) {
                None => Seen::Absent,
                Some(shown) => Seen::Present(Present::from(shown)),
            };
        }
        // an error on the way leaves it unknown
        match (std::mem::take(&mut slot.seen), wanted) {
            (Seen::Present(present), Some(wanted)) if present.is_for(&wanted) => {
                slot.seen = Seen::Present(self.adjust(present, &wanted).await?);
            }
            (Seen::Present(present), wanted) => {
                self.remove(&present).await?;
                slot.seen = match wanted {
                    None => Seen::Absent,
                    Some(wanted) => Seen::Present(self.create(&wanted).await?),
                };
            }
            (_, Some(wanted)) => slot.seen = Seen::Present(self.create(&wanted).await?),
            (_, None) => slot.seen = Seen::Absent,
        }
        Ok(())
    }
}

/// Why a step ended.
#[derive(Debug)]
enum Failure {
    /// Looked at again and repeated.
    Tgt(TgtError),
    Refusal(Refusal),
}

impl From<TgtError> for Failure {
    fn from(e: TgtError) -> Self {
        Self::Tgt(e)
    }
}

/// A failure of `tgtd` as the caller sees it.
fn refusal(e: TgtError) -> Refusal {
    let code = e.code().map(|c| format!(" ({c})")).unwrap_or_default();
    let message = format!("{e}{code}");
    match e {
        TgtError::Down(_) | TgtError::TimedOut | TgtError::Garbled(_) => Refusal::transient(message).because(e),
        TgtError::Refused { .. } => Refusal::internal(message).because(e),
    }
}
