//! What the volumes of a back end carry as `shared_targets`, when its driver says something safer than before.
//!
//! Order of safety, the least first: false (consumers need no lock), true (they lock unless the host can keep the
//! initiator from scanning), none (they always lock). Going down that order is not done here: it is no danger to be late
//! with, and runs in batches.

use super::backends::shared_targets_text;
use crate::store::{StoreResult, Tx, on_tx};

pub(super) fn safety(value: Option<bool>) -> i64 {
    match value {
        Some(false) => 0,
        Some(true) => 1,
        None => 2,
    }
}

impl Tx {
    /// From this commit on it is this incarnation's word that counts when what volumes carry becomes less safe.
    pub async fn adopt_incarnation(&mut self, host: &str, incarnation: &str) -> StoreResult<()> {
        let sql = "UPDATE backends SET incarnation = $2 WHERE host = $1";
        on_tx!(self, t => sqlx::query(sql).bind(host).bind(incarnation).execute(t).await?.rows_affected());
        Ok(())
    }

    /// If `value` is safer than what is stored, the back end and every volume on it carry it from this commit on: it
    /// must stand before the driver that reported it serves a connect. How many volumes changed.
    pub async fn shared_targets_at_least(&mut self, host: &str, value: Option<bool>) -> StoreResult<u64> {
        let sql = "UPDATE backends SET shared_targets = $2 WHERE host = $1 AND shared_targets IS NOT NULL AND \
                       CASE shared_targets WHEN 'false' THEN 0 WHEN 'none' THEN 2 ELSE 1 END < $3";
        let raised = on_tx!(self, t => sqlx::query(sql).bind(host).bind(shared_targets_text(value)).bind(safety(value)).execute(t).await?.rows_affected());
        if raised == 0 {
            return Ok(0);
        }
        let sql = "UPDATE volumes SET shared_targets = $2 WHERE backend = $1 AND \
                       CASE WHEN shared_targets IS NULL THEN 2 WHEN shared_targets THEN 1 ELSE 0 END < $3";
        Ok(on_tx!(self, t => sqlx::query(sql).bind(host).bind(value).bind(safety(value)).execute(t).await?.rows_affected()))
    }
}
