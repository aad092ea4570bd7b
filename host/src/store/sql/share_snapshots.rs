//! Snapshots of shares and their instances: the row, its conditional changes.
//!
//! A snapshot is what its owner sees; its instance is what lies on a back end. Every snapshot has one instance, and the two
//! are read as one row and written together: [`Tx::share_snapshot_status`] is the one place that changes a status. Whoever
//! decides something from a share's snapshots holds the share ([`Tx::share_locked`]) first.

use crate::{
    clock::Micros,
    domain::share_snapshot::{DELETE_FROM, ShareSnapshotStatus},
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value},
        on_read, on_tx,
    },
};

/// A snapshot with its instance, and what it shows of its share.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct ShareSnapshotRow {
    pub id: String,
    pub share_id: String,
    pub project_id: String,
    pub user_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    /// Of the share when it was taken.
    pub size_gib: i64,
    pub share_proto: String,
    pub status: String,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
    /// What a driver knows it by.
    pub instance_id: String,
    pub share_instance_id: String,
    pub progress: Option<String>,
    /// False: it is certain that the back end holds nothing of it.
    pub backed: bool,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub instance_created_at: Micros,
    pub instance_updated_at: Option<Micros>,
    /// Of its share.
    pub share_type_id: String,
    pub share_network_id: Option<String>,
    pub mount_snapshot_support: bool,
    pub host: Option<String>,
    pub share_server_id: Option<String>,
}

/// Every snapshot has all that is joined. LEFT: SQLite's planner begins with the snapshots, in the order of a list.
pub(super) const SELECT: &str = "SELECT n.id, n.share_id, n.project_id, n.user_id, n.name, n.description, n.size_gib, n.share_proto, n.status, \
     n.created_at, n.updated_at, i.id AS instance_id, i.share_instance_id, i.progress, i.backed, i.provider_id, i.provider_data, \
     i.created_at AS instance_created_at, i.updated_at AS instance_updated_at, s.share_type_id, s.share_network_id, s.mount_snapshot_support, si.host, si.share_server_id \
     FROM share_snapshots n LEFT JOIN share_snapshot_instances i ON i.snapshot_id = n.id LEFT JOIN shares s ON s.id = n.share_id \
     LEFT JOIN share_instances si ON si.id = i.share_instance_id";

/// A snapshot to be inserted with its instance.
#[derive(Debug, Clone)]
pub struct NewShareSnapshot {
    pub id: String,
    pub instance_id: String,
    pub share_id: String,
    pub share_instance_id: String,
    pub project_id: String,
    pub user_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub size_gib: i64,
    pub share_proto: String,
    pub status: ShareSnapshotStatus,
    /// False: nothing will be made on the back end.
    pub backed: bool,
    pub created_at: Micros,
}

impl Store {
    /// One snapshot.
    pub async fn share_snapshot(&self, id: &str) -> StoreResult<Option<ShareSnapshotRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE n.id = $1"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }

    /// The snapshot of an instance.
    pub async fn share_snapshot_of_instance(&self, instance_id: &str) -> StoreResult<Option<ShareSnapshotRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE i.id = $1"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(instance_id).fetch_optional(p).await?))
    }

    /// The whole snapshots of these shares, the oldest first: those that are available.
    pub async fn whole_snapshots_of(&self, share_ids: impl Iterator<Item = &str>) -> StoreResult<Vec<ShareSnapshotRow>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE n.share_id IN "));
        sql.bind_list(share_ids);
        if sql.values.is_empty() {
            return Ok(Vec::new());
        }
        sql.push(" AND n.status = ").bind(ShareSnapshotStatus::Available.as_str()).push(" AND i.backed ORDER BY n.created_at, n.id");
        self.fetch_all(sql).await
    }
}

impl Tx {
    pub async fn share_snapshot(&mut self, id: &str) -> StoreResult<Option<ShareSnapshotRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE n.id = $1"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_optional(c).await?))
    }

    /// As [`Tx::share_snapshot`], and on PostgreSQL holds the row until the transaction ends.
    pub async fn share_snapshot_locked(&mut self, id: &str) -> StoreResult<Option<ShareSnapshotRow>> {
        let sql = "UPDATE share_snapshots SET status = status WHERE id = $1";
        let found = on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        if found == 0 { Ok(None) } else { self.share_snapshot(id).await }
    }

    /// The newest snapshot of a share.
    pub async fn latest_share_snapshot(&mut self, share_id: &str) -> StoreResult<Option<ShareSnapshotRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE n.share_id = $1 ORDER BY n.created_at DESC, n.id DESC LIMIT 1"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(share_id).fetch_optional(c).await?))
    }

    /// A share that is being made of this snapshot: as long as its create may run, the snapshot must stay.
    pub async fn share_being_made_of(&mut self, snapshot_id: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT s.id FROM shares s WHERE s.snapshot_id = $1 AND EXISTS \
                   (SELECT 1 FROM jobs j WHERE j.resource_id = s.id AND j.kind = 'share.create' AND j.state <> 'done') LIMIT 1";
        let found: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(snapshot_id).fetch_optional(c).await?);
        Ok(found.map(|(id,)| id))
    }

    pub async fn share_snapshot_insert(&mut self, s: &NewShareSnapshot) -> StoreResult<()> {
        let sql = "INSERT INTO share_snapshots (id, share_id, project_id, user_id, name, description, size_gib, share_proto, status, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        on_tx!(self, c => sqlx::query(sql).bind(&s.id).bind(&s.share_id).bind(&s.project_id).bind(&s.user_id).bind(&s.name).bind(&s.description)
            .bind(s.size_gib).bind(&s.share_proto).bind(s.status.as_str()).bind(s.created_at).execute(c).await?.rows_affected());
        let sql = "INSERT INTO share_snapshot_instances (id, snapshot_id, share_instance_id, status, progress, backed, created_at) \
                   VALUES ($1, $2, $3, $4, '0%', $5, $6)";
        on_tx!(self, c => sqlx::query(sql).bind(&s.instance_id).bind(&s.id).bind(&s.share_instance_id).bind(s.status.as_str()).bind(s.backed)
            .bind(s.created_at).execute(c).await?.rows_affected());
        Ok(())
    }

    /// `from` -> `to`, snapshot and instance together; false when the snapshot is in none of `from` (or is gone).
    pub async fn share_snapshot_status(
        &mut self,
        id: &str,
        from: &[ShareSnapshotStatus],
        to: ShareSnapshotStatus,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE share_snapshots SET status = ");
        sql.bind(to.as_str()).push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id);
        sql.push(" AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        if !self.run(sql).await? {
            return Ok(false);
        }
        let sql = "UPDATE share_snapshot_instances SET status = $2, updated_at = $3 WHERE snapshot_id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(to.as_str()).bind(now).execute(c).await?.rows_affected()) > 0)
    }

    /// Whatever an operator says it is.
    pub async fn share_snapshot_tell(&mut self, id: &str, status: ShareSnapshotStatus, now: Micros) -> StoreResult<bool> {
        self.share_snapshot_status(id, ShareSnapshotStatus::ALL, status, now).await
    }

    /// The driver has taken it: creating -> available. Another status, which somebody else gave it meanwhile, stays. False:
    /// it is gone.
    pub async fn share_snapshot_made(
        &mut self,
        id: &str,
        provider_id: Option<&str>,
        provider_data: Option<&str>,
        now: Micros,
    ) -> StoreResult<bool> {
        self.share_snapshot_status(id, &[ShareSnapshotStatus::Creating], ShareSnapshotStatus::Available, now).await?;
        let sql = "UPDATE share_snapshot_instances SET provider_id = $2, provider_data = $3, progress = '100%', updated_at = $4 \
                   WHERE snapshot_id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(provider_id).bind(provider_data).bind(now).execute(c).await?.rows_affected())
            == 1)
    }

    /// creating -> error. `backed` says whether something may exist on the back end.
    pub async fn share_snapshot_failed(&mut self, id: &str, backed: bool, now: Micros) -> StoreResult<bool> {
        if !self.share_snapshot_status(id, &[ShareSnapshotStatus::Creating], ShareSnapshotStatus::Error, now).await? {
            return Ok(false);
        }
        let sql = "UPDATE share_snapshot_instances SET backed = $2 WHERE snapshot_id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(backed).execute(c).await?.rows_affected());
        Ok(true)
    }

    /// -> deleting, only from rest unless `force`.
    pub async fn share_snapshot_begin_delete(&mut self, id: &str, force: bool, now: Micros) -> StoreResult<bool> {
        let from = if force { ShareSnapshotStatus::ALL } else { DELETE_FROM };
        self.share_snapshot_status(id, from, ShareSnapshotStatus::Deleting, now).await
    }

    /// The snapshot goes with its instance, locations, rules and metadata; false when it is gone.
    pub async fn share_snapshot_remove(&mut self, id: &str) -> StoreResult<bool> {
        for sql in
            ["DELETE FROM snapshot_access_rules WHERE snapshot_id = $1", "DELETE FROM share_snapshot_instances WHERE snapshot_id = $1"]
        {
            on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        }
        Ok(on_tx!(self, c => sqlx::query("DELETE FROM share_snapshots WHERE id = $1").bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// Name and description; none leaves a column as it is.
    pub async fn share_snapshot_describe(
        &mut self,
        id: &str,
        name: Option<Option<&str>>,
        description: Option<Option<&str>>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE share_snapshots SET updated_at = ");
        sql.bind(now);
        for (column, value) in [("name", name), ("description", description)] {
            if let Some(value) = value {
                sql.push(", ").push(column).push(" = ").bind(Value::Text(value.map(str::to_owned)));
            }
        }
        sql.push(" WHERE id = ").bind(id);
        self.run(sql).await
    }
}
