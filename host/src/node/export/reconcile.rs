//! All targets at once: after a start, after a new daemon, and from time to time.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Exports, Key, Seen, Slot, refusal,
    target::{Present, unless},
};
use crate::node::{
    refusal::Result,
    tgt::{Code, TgtError},
};

impl Exports {
    /// Every target the records ask for.
    pub fn keys(&self) -> BTreeMap<String, Key> {
        let volumes = self.records.volumes.page(None, usize::MAX, |v| v.is_live() && !v.attachments.is_empty());
        let keys = volumes.iter().flat_map(|v| v.attachments.iter().filter(|(_, a)| !a.leaving).map(|(i, _)| Key::of(v, i)));
        keys.map(|k| (k.name(&self.prefix), k)).collect()
    }

    /// Makes `tgtd` hold what the records say, and nothing else. One target that fails does not keep the others from it.
    ///
    /// # Errors
    /// The first failure.
    pub async fn reconcile(&self) -> Result<()> {
        let shown = match self.client.show().await {
            Ok(shown) => shown,
            Err(e) => {
                if matches!(e, TgtError::Garbled(_)) {
                    tracing::warn!(error = %e, "what the iSCSI service shows is not believed");
                    self.daemon.replace();
                }
                return Err(refusal(e));
            }
        };
        let mut outcome = Ok(());
        let keys = self.keys();
        let mut shown = shown.targets;
        for (name, key) in keys {
            let as_it_should_be = shown
                .remove(&name)
                .zip(key.wanted(&self.records, &self.disk))
                .is_some_and(|(shown, wanted)| Present::from(shown).is(&wanted));
            if as_it_should_be {
                continue;
            }
            // what was shown may be old by now: it is looked at again under its lock
            let mut held = self.hold(key).await;
            if self.daemon.up()?.0 == held.slot.epoch {
                held.slot.seen = Seen::Unknown;
            }
            if let Err(e) = self.apply_held(held, |_| true).await {
                tracing::warn!(target_name = name, error = %e, "a target is not what it should be");
                outcome = outcome.and(Err(e));
            }
        }
        for name in shown.into_keys() {
            outcome = outcome.and(self.remove_stranger(&name).await);
        }
        outcome.and(self.remove_accounts().await)
    }

    /// A target that no record asks for.
    async fn remove_stranger(&self, name: &str) -> Result<()> {
        let slot = self.slot(name);
        let mut slot = slot.lock().await;
        // it may be wanted by now, and then somebody else makes it right
        if self.keys().contains_key(name) {
            return Ok(());
        }
        tracing::info!(target_name = name, "a target without a record is removed");
        *slot = Slot { epoch: self.daemon.up()?.0, seen: Seen::Unknown };
        self.converge(&mut slot, name, |_| None).await.map(drop)
    }

    /// Accounts that no attachment has.
    async fn remove_accounts(&self) -> Result<()> {
        let there = self.client.accounts().await.map_err(refusal)?;
        let wanted: BTreeSet<String> = self
            .records
            .volumes
            .all()
            .iter()
            .flat_map(|v| v.attachments.values().map(|a| a.username.clone()).collect::<Vec<_>>())
            .collect();
        for account in there.iter().filter(|a| !wanted.contains(*a)) {
            unless(self.client.delete_account(account).await, Code::NoUser).map_err(refusal)?;
        }
        Ok(())
    }
}
