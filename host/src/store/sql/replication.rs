//! Fail-over of a back end: how it stands, and what becomes of its volumes.
//!
//! `failing-over` has an owner, the job that the transaction which writes it puts in. Whatever ends it names that state.

use serde::{Deserialize, Serialize};

use super::{
    backends::BackendRow,
    volumes::{SELECT, VolumeRow},
};
use crate::{
    clock::Micros,
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

/// What makes the volumes of a type replicated, where the type's id stands in this column.
macro_rules! replicated {
    ($type:literal) => {
        concat!("FROM volume_type_specs s WHERE s.type_id = ", $type, " AND s.key = 'replication_enabled' AND s.value = '<is> True'")
    };
}

/// What a volume's replication status is by its type, when it is made or has got another type.
pub(super) const OF_TYPE: &str = concat!("(SELECT 'enabled' ", replicated!("volume_type_id"), ")");

/// The same for a volume that moves to another back end with another type.
pub(super) const OF_NEW_TYPE: &str = concat!("(SELECT 'enabled' ", replicated!("retype_to"), ")");

/// The same for a volume that gets another type where it is: replicated then as before, it stands as before.
pub(super) const IN_PLACE: &str = concat!(
    "CASE WHEN EXISTS (SELECT 1 ",
    replicated!("retype_to"),
    ") THEN COALESCE(NULLIF(replication_status, 'not-capable'), 'enabled') END"
);

/// How a back end stands, as far as a fail-over changes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub enabled: bool,
    pub disabled_reason: Option<String>,
    pub replication_status: Option<String>,
    pub active_backend_id: Option<String>,
}

impl From<&BackendRow> for Standing {
    fn from(row: &BackendRow) -> Self {
        Self {
            enabled: row.enabled,
            disabled_reason: row.disabled_reason.clone(),
            replication_status: row.replication_status.clone(),
            active_backend_id: row.active_backend_id.clone(),
        }
    }
}

impl Store {
    /// Replicated volumes of a back end behind `after`, by id: those that a job is just making or deleting are that job's.
    pub async fn replicated_volumes_after(&self, backend: &str, after: &str, limit: i64) -> StoreResult<Vec<VolumeRow>> {
        let sql = format!(
            "{SELECT} WHERE v.backend = $1 AND v.id > $2 AND v.replication_status IS NOT NULL AND v.replication_status <> 'not-capable' \
             AND v.status NOT IN ('creating', 'deleting') ORDER BY v.id LIMIT $3"
        );
        Ok(on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(backend).bind(after).bind(limit).fetch_all(p).await?))
    }
}

impl Tx {
    /// -> failing-over, and nothing new is placed there, if it still stands as `before`. False: it does not.
    pub async fn failover_begin(&mut self, host: &str, before: &Standing, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE backends SET replication_status = 'failing-over', replication_reason = NULL, enabled = FALSE, disabled_reason = 'failing-over', \
                   updated_at = $2 WHERE host = $1 AND configured AND enabled = $3 AND disabled_reason IS NOT DISTINCT FROM $4 \
                   AND replication_status IS NOT DISTINCT FROM $5 AND active_backend_id IS NOT DISTINCT FROM $6";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(host).bind(now).bind(before.enabled).bind(&before.disabled_reason)
            .bind(&before.replication_status).bind(&before.active_backend_id).execute(c).await?.rows_affected())
            == 1)
    }

    /// failing-over -> how it stands from now on, and why that is not what was asked for.
    pub async fn failover_end(&mut self, host: &str, after: &Standing, reason: Option<&str>, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE backends SET enabled = $2, disabled_reason = $3, replication_status = $4, active_backend_id = $5, replication_reason = $6, \
                   updated_at = $7 WHERE host = $1 AND replication_status = 'failing-over'";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(host).bind(after.enabled).bind(&after.disabled_reason).bind(&after.replication_status)
            .bind(&after.active_backend_id).bind(reason).bind(now).execute(c).await?.rows_affected())
            == 1)
    }

    /// The volumes that are not replicated, and their snapshots, stay behind on the lost array: -> error. How many volumes.
    pub async fn leave_unreplicated_behind(&mut self, backend: &str, now: Micros) -> StoreResult<u64> {
        let sql = "UPDATE volumes SET previous_status = CASE WHEN status = 'error' THEN previous_status ELSE status END, status = 'error', \
                   replication_status = 'not-capable', updated_at = $2 WHERE backend = $1 AND status NOT IN ('creating', 'deleting') \
                   AND (replication_status IS NULL OR replication_status = 'not-capable')";
        let left = on_tx!(self, c => sqlx::query(sql).bind(backend).bind(now).execute(c).await?.rows_affected());
        let sql = "UPDATE snapshots SET status = 'error', updated_at = $2 WHERE status NOT IN ('creating', 'deleting') \
                   AND volume_id IN (SELECT id FROM volumes WHERE backend = $1 AND replication_status = 'not-capable')";
        on_tx!(self, c => sqlx::query(sql).bind(backend).bind(now).execute(c).await?.rows_affected());
        Ok(left)
    }

    /// A replicated volume has its turn: served, with what the driver says of it.
    pub async fn volume_failed_over(
        &mut self,
        id: &str,
        status: &str,
        provider: (Option<&str>, Option<&str>),
        now: Micros,
    ) -> StoreResult<()> {
        let sql = "UPDATE volumes SET replication_status = $2, provider_id = COALESCE($3, provider_id), provider_data = COALESCE($4, provider_data), \
                   updated_at = $5 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(status).bind(provider.0).bind(provider.1).bind(now).execute(c).await?.rows_affected());
        Ok(())
    }

    /// A replicated volume that did not come along: -> error, and its snapshots.
    pub async fn volume_left_behind(&mut self, id: &str, now: Micros) -> StoreResult<()> {
        let sql = "UPDATE volumes SET previous_status = CASE WHEN status = 'error' THEN previous_status ELSE status END, status = 'error', \
                   replication_status = 'failover-error', updated_at = $2 WHERE id = $1 AND status NOT IN ('creating', 'deleting')";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(now).execute(c).await?.rows_affected());
        let sql = "UPDATE snapshots SET status = 'error', updated_at = $2 WHERE volume_id = $1 AND status NOT IN ('creating', 'deleting')";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(now).execute(c).await?.rows_affected());
        Ok(())
    }
}
