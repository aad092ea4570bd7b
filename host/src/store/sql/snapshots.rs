//! Snapshots: the row, its conditional changes.
//!
//! Every change of `status` names the states it may start from and says whether it happened. Whoever decides something
//! from a volume's snapshots, or about one from what is being copied of it, holds the volume ([`Tx::volume_locked`]) or
//! the snapshot ([`Tx::snapshot_locked`]) first.

use crate::{
    clock::Micros,
    domain::{snapshot::SnapshotStatus, text_enum},
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value},
        on_read, on_tx,
    },
};

/// A snapshot as it stands in the database, with what it shows of its volume.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct SnapshotRow {
    pub id: String,
    pub volume_id: String,
    pub project_id: String,
    pub user_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub size_gib: i64,
    pub status: String,
    pub progress: String,
    pub backed: bool,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub quota_gib: i64,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
    /// Of its volume.
    pub type_name: String,
    pub availability_zone: String,
    pub host: Option<String>,
    /// What drivers call its volume.
    pub driver_volume_id: String,
}

pub(super) const SELECT: &str = "SELECT s.id, s.volume_id, s.project_id, s.user_id, s.name, s.description, s.size_gib, s.status, s.progress, s.backed, \
     s.provider_id, s.provider_data, s.quota_gib, s.created_at, s.updated_at, t.name AS type_name, v.availability_zone, v.host, COALESCE(v.name_id, v.id) AS driver_volume_id \
     FROM snapshots s JOIN volumes v ON v.id = s.volume_id JOIN volume_types t ON t.id = v.volume_type_id";

/// A snapshot to be inserted.
#[derive(Debug, Clone)]
pub struct NewSnapshot {
    pub id: String,
    pub volume_id: String,
    pub project_id: String,
    pub user_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub size_gib: i64,
    pub status: SnapshotStatus,
    /// False: nothing will be made on the back end.
    pub backed: bool,
    pub quota_gib: i64,
    pub created_at: Micros,
}

text_enum! {
    /// What is copied to a volume that is being made.
    pub enum CopySource {
        Snapshot = "snapshot_id",
        Volume = "source_volid",
    }
}

impl Store {
    /// One snapshot.
    pub async fn snapshot(&self, id: &str) -> StoreResult<Option<SnapshotRow>> {
        let sql = format!("{SELECT} WHERE s.id = $1");
        Ok(on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(p).await?))
    }

    /// Whether a volume has any snapshot.
    pub async fn has_snapshots(&self, volume_id: &str) -> StoreResult<bool> {
        let sql = "SELECT COUNT(*) FROM snapshots WHERE volume_id = $1";
        let (count,): (i64,) = on_read!(self, p => sqlx::query_as(sql).bind(volume_id).fetch_one(p).await?);
        Ok(count > 0)
    }
}

impl Tx {
    pub async fn snapshot(&mut self, id: &str) -> StoreResult<Option<SnapshotRow>> {
        let sql = format!("{SELECT} WHERE s.id = $1");
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(c).await?))
    }

    /// As [`Tx::snapshot`], and on PostgreSQL holds the row until the transaction ends.
    pub async fn snapshot_locked(&mut self, id: &str) -> StoreResult<Option<SnapshotRow>> {
        let sql = "UPDATE snapshots SET status = status WHERE id = $1";
        let found = on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        if found == 0 { Ok(None) } else { self.snapshot(id).await }
    }

    /// Every snapshot of a volume, the newest first.
    pub async fn snapshots_of(&mut self, volume_id: &str) -> StoreResult<Vec<SnapshotRow>> {
        let sql = format!("{SELECT} WHERE s.volume_id = $1 ORDER BY s.created_at DESC, s.id DESC");
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(volume_id).fetch_all(c).await?))
    }

    /// A volume that is being made as a copy of this snapshot or volume: as long as its create may run, the source must stay.
    pub async fn being_copied(&mut self, source: CopySource, id: &str) -> StoreResult<Option<String>> {
        let sql = format!(
            "SELECT v.id FROM volumes v WHERE v.{source} = $1 AND v.{source} IS NOT NULL AND v.copying AND EXISTS \
             (SELECT 1 FROM jobs j WHERE j.resource_id = v.id AND j.kind = 'volume.create' AND j.state <> 'done') LIMIT 1"
        );
        let found: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(c).await?);
        Ok(found.map(|(id,)| id))
    }

    pub async fn snapshot_insert(&mut self, s: &NewSnapshot) -> StoreResult<()> {
        let sql = "INSERT INTO snapshots (id, volume_id, project_id, user_id, name, description, size_gib, status, progress, backed, quota_gib, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '0%', $9, $10, $11)";
        on_tx!(self, c => sqlx::query(sql).bind(&s.id).bind(&s.volume_id).bind(&s.project_id).bind(&s.user_id).bind(&s.name).bind(&s.description)
            .bind(s.size_gib).bind(s.status.as_str()).bind(s.backed).bind(s.quota_gib).bind(s.created_at).execute(c).await?.rows_affected());
        Ok(())
    }

    /// `from` -> `to`; false when the snapshot is in none of `from` (or is gone).
    pub async fn snapshot_status(&mut self, id: &str, from: &[SnapshotStatus], to: SnapshotStatus, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE snapshots SET status = ");
        sql.bind(to.as_str()).push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id);
        sql.push(" AND status IN ").bind_list(words(from));
        self.volume_execute(sql).await
    }

    /// Whatever an operator says its status is, and how far it is said to be.
    pub async fn snapshot_tell(&mut self, id: &str, status: SnapshotStatus, progress: Option<&str>, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE snapshots SET status = $2, progress = COALESCE($3, progress), updated_at = $4 WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(status.as_str()).bind(progress).bind(now).execute(c).await?.rows_affected())
            == 1)
    }

    /// The driver has made it: creating -> available. Another status, which somebody else gave it meanwhile, stays. False:
    /// it is gone.
    pub async fn snapshot_made(
        &mut self,
        id: &str,
        provider_id: Option<&str>,
        provider_data: Option<&str>,
        now: Micros,
    ) -> StoreResult<bool> {
        let sql = "UPDATE snapshots SET status = CASE WHEN status = 'creating' THEN 'available' ELSE status END, progress = '100%', \
                   provider_id = $2, provider_data = $3, updated_at = $4 WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(provider_id).bind(provider_data).bind(now).execute(c).await?.rows_affected())
            == 1)
    }

    /// creating -> error. `backed` says whether something may exist on the back end.
    pub async fn snapshot_failed(&mut self, id: &str, backed: bool, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE snapshots SET status = 'error', backed = $2, updated_at = $3 WHERE id = $1 AND status = 'creating'";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(backed).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// -> deleting, only from rest unless `force`.
    pub async fn snapshot_begin_delete(&mut self, id: &str, force: bool, now: Micros) -> StoreResult<bool> {
        let from = if force { SnapshotStatus::ALL } else { crate::domain::snapshot::DELETE_FROM };
        self.snapshot_status(id, from, SnapshotStatus::Deleting, now).await
    }

    /// The row goes, with its metadata; false when it is gone.
    pub async fn snapshot_remove(&mut self, id: &str) -> StoreResult<bool> {
        Ok(on_tx!(self, c => sqlx::query("DELETE FROM snapshots WHERE id = $1").bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// Name and description; none leaves a column as it is.
    pub async fn snapshot_describe(
        &mut self,
        id: &str,
        name: Option<Option<&str>>,
        description: Option<Option<&str>>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE snapshots SET updated_at = ");
        sql.bind(now);
        for (column, value) in [("name", name), ("description", description)] {
            if let Some(value) = value {
                sql.push(", ").push(column).push(" = ").bind(Value::Text(value.map(str::to_owned)));
            }
        }
        sql.push(" WHERE id = ").bind(id);
        self.volume_execute(sql).await
    }

    /// How many snapshots of a volume each project's quota counts, and their GiB there. They need not be the volume's owner's.
    pub async fn snapshots_in_quota(&mut self, volume_id: &str) -> StoreResult<Vec<(String, i64, i64)>> {
        let sql = "SELECT project_id, COUNT(*), CAST(SUM(quota_gib) AS BIGINT) FROM snapshots WHERE volume_id = $1 GROUP BY project_id ORDER BY project_id";
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(volume_id).fetch_all(c).await?))
    }

    /// The snapshots of a volume that were `from`'s become another's.
    pub async fn snapshots_give(&mut self, volume_id: &str, from: &str, project_id: &str, user_id: &str, now: Micros) -> StoreResult<u64> {
        let sql = "UPDATE snapshots SET project_id = $3, user_id = $4, updated_at = $5 WHERE volume_id = $1 AND project_id = $2";
        Ok(
            on_tx!(self, c => sqlx::query(sql).bind(volume_id).bind(from).bind(project_id).bind(user_id).bind(now).execute(c).await?.rows_affected()),
        )
    }
}

fn words(states: &[SnapshotStatus]) -> impl Iterator<Item = &'static str> + '_ {
    states.iter().map(|s| s.as_str())
}
