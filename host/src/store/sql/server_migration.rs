//! A share server that moves to another back end, with all that is on it.
//!
//! Whoever begins or ends a migration holds the networks of both servers, then the servers; who says what shall become of one
//! holds its source. Its job is the only one that writes anything of the shares on it meanwhile. `task_state` is the state of the
//! migration: each step of it is one conditional UPDATE, so that of a driver that has copied all and an operator who cancels one
//! comes first.

use crate::{
    clock::Micros,
    domain::{
        share::ShareStatus,
        share_server::{ServerStatus, TaskState},
        share_snapshot::ShareSnapshotStatus,
    },
    driver::types::{MovedShare, MovedSnapshot},
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

const DESTINATION: &str = "SELECT id FROM share_servers WHERE source_share_server_id = $1 AND status = $2 LIMIT 1";

/// Where a share goes with its server.
#[derive(Debug, Clone, Copy)]
pub struct NewPlace<'a> {
    pub server_id: &'a str,
    pub network_id: &'a str,
    /// `host@backend`
    pub backend: &'a str,
    pub availability_zone: &'a str,
}

impl Store {
    /// The server that this one is moving to.
    pub async fn migration_destination(&self, source_id: &str) -> StoreResult<Option<String>> {
        let to = ServerStatus::ServerMigratingTo.as_str();
        let found: Option<(String,)> = on_read!(self, p => sqlx::query_as(DESTINATION).bind(source_id).bind(to).fetch_optional(p).await?);
        Ok(found.map(|(id,)| id))
    }

    /// The server that this one has moved to.
    pub async fn migrated_to(&self, source_id: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT id FROM share_servers WHERE source_share_server_id = $1 AND status = $2 AND task_state = $3 LIMIT 1";
        let (active, success) = (ServerStatus::Active.as_str(), TaskState::Success.as_str());
        let found: Option<(String,)> =
            on_read!(self, p => sqlx::query_as(sql).bind(source_id).bind(active).bind(success).fetch_optional(p).await?);
        Ok(found.map(|(id,)| id))
    }

    /// What a server left behind when it moved away.
    pub async fn left_behind(&self, server_id: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT left_behind FROM share_servers WHERE id = $1";
        let found: Option<(Option<String>,)> = on_read!(self, p => sqlx::query_as(sql).bind(server_id).fetch_optional(p).await?);
        Ok(found.and_then(|(left,)| left))
    }
}

impl Tx {
    /// What it leaves behind. None: that is removed.
    pub async fn leaves_behind(&mut self, server_id: &str, left: Option<&str>) -> StoreResult<()> {
        let sql = "UPDATE share_servers SET left_behind = $2 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(server_id).bind(left).execute(c).await?.rows_affected());
        Ok(())
    }

    /// A server that moved away from a back end, on which there is still something of it.
    pub async fn left_on_backend(&mut self, backend: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT id FROM share_servers WHERE backend = $1 AND left_behind IS NOT NULL LIMIT 1";
        let found: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(backend).fetch_optional(c).await?);
        Ok(found.map(|(id,)| id))
    }

    /// A share that is being made of a snapshot on the server.
    pub async fn share_being_made_on(&mut self, server_id: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT s.id FROM share_instances i JOIN share_snapshots n ON n.share_id = i.share_id JOIN shares s ON s.snapshot_id = n.id \
                   WHERE i.share_server_id = $1 AND EXISTS \
                   (SELECT 1 FROM jobs j WHERE j.resource_id = s.id AND j.kind = 'share.create' AND j.state <> 'done') LIMIT 1";
        let found: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(server_id).fetch_optional(c).await?);
        Ok(found.map(|(id,)| id))
    }

    /// Nobody but an operator deletes it, whatever of its network or subnet is deleted.
    pub async fn share_server_stays(&mut self, id: &str) -> StoreResult<()> {
        let sql = "UPDATE share_servers SET is_auto_deletable = FALSE WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// As [`Store::migration_destination`].
    pub async fn migration_destination(&mut self, source_id: &str) -> StoreResult<Option<String>> {
        let to = ServerStatus::ServerMigratingTo.as_str();
        let found: Option<(String,)> = on_tx!(self, c => sqlx::query_as(DESTINATION).bind(source_id).bind(to).fetch_optional(c).await?);
        Ok(found.map(|(id,)| id))
    }

    /// active -> server_migrating. False: it is not active.
    pub async fn share_server_begin_migration(&mut self, id: &str, can_cancel: bool, now: Micros) -> StoreResult<bool> {
        if !self.share_server_status(id, &[ServerStatus::Active], ServerStatus::ServerMigrating, now).await? {
            return Ok(false);
        }
        let sql = "UPDATE share_servers SET task_state = $2, migration_percent = NULL, migration_can_cancel = $3 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(TaskState::Starting.as_str()).bind(can_cancel).execute(c).await?.rows_affected());
        Ok(true)
    }

    /// `from` -> `to`. False: its task is in none of `from`.
    pub async fn share_server_task(&mut self, id: &str, from: &[TaskState], to: TaskState, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE share_servers SET task_state = ");
        sql.bind(to.as_str()).push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id);
        sql.push(" AND task_state IN ").bind_list(from.iter().map(|s| s.as_str()));
        self.run(sql).await
    }

    /// Whatever it was.
    pub async fn share_server_task_told(&mut self, id: &str, task: Option<TaskState>, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE share_servers SET task_state = $2, updated_at = $3 WHERE id = $1";
        let task = task.map(TaskState::as_str);
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(task).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// How much its driver has copied.
    pub async fn share_server_copied(&mut self, id: &str, percent: Option<u8>) -> StoreResult<()> {
        let sql = "UPDATE share_servers SET migration_percent = COALESCE($2, migration_percent) WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(percent.map(i64::from)).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The destination of a migration that is complete: what lives on it came with the source.
    pub async fn share_server_settled(&mut self, id: &str, details: &str, identifier: Option<&str>, now: Micros) -> StoreResult<bool> {
        if !self.share_server_status(id, &[ServerStatus::ServerMigratingTo], ServerStatus::Active, now).await? {
            return Ok(false);
        }
        let sql = "UPDATE share_servers SET task_state = $2, details = $3, identifier = COALESCE($4, identifier), idle_since = NULL WHERE id = $1";
        let success = TaskState::Success.as_str();
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(success).bind(details).bind(identifier).execute(c).await?.rows_affected());
        Ok(true)
    }

    /// The shares on a server, and their snapshots, that are in the first of these statuses get the second; how many shares.
    pub async fn server_content_status(
        &mut self,
        server_id: &str,
        shares: (ShareStatus, ShareStatus),
        snapshots: (ShareSnapshotStatus, ShareSnapshotStatus),
        now: Micros,
    ) -> StoreResult<u64> {
        let (from, to) = (shares.0.as_str(), shares.1.as_str());
        let sql = "UPDATE shares SET status = $3, updated_at = $4 WHERE status = $2 \
                   AND id IN (SELECT share_id FROM share_instances WHERE share_server_id = $1)";
        let changed = on_tx!(self, c => sqlx::query(sql).bind(server_id).bind(from).bind(to).bind(now).execute(c).await?.rows_affected());
        let sql = "UPDATE share_instances SET status = $3, updated_at = $4 WHERE share_server_id = $1 AND status = $2";
        on_tx!(self, c => sqlx::query(sql).bind(server_id).bind(from).bind(to).bind(now).execute(c).await?.rows_affected());
        let (from, to) = (snapshots.0.as_str(), snapshots.1.as_str());
        let sql = "UPDATE share_snapshots SET status = $3, updated_at = $4 WHERE status = $2 \
                   AND share_id IN (SELECT share_id FROM share_instances WHERE share_server_id = $1)";
        on_tx!(self, c => sqlx::query(sql).bind(server_id).bind(from).bind(to).bind(now).execute(c).await?.rows_affected());
        let sql = "UPDATE share_snapshot_instances SET status = $3, updated_at = $4 WHERE status = $2 \
                   AND share_instance_id IN (SELECT id FROM share_instances WHERE share_server_id = $1)";
        on_tx!(self, c => sqlx::query(sql).bind(server_id).bind(from).bind(to).bind(now).execute(c).await?.rows_affected());
        Ok(changed)
    }

    /// A snapshot of a share on the server that is not available, and its status.
    pub async fn server_snapshot_not_available(&mut self, server_id: &str) -> StoreResult<Option<(String, String)>> {
        let sql = "SELECT n.id, n.status FROM share_snapshots n JOIN share_instances i ON i.share_id = n.share_id \
                   WHERE i.share_server_id = $1 AND n.status <> $2 ORDER BY n.created_at, n.id LIMIT 1";
        let available = ShareSnapshotStatus::Available.as_str();
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(server_id).bind(available).fetch_optional(c).await?))
    }

    /// By share, how much the snapshots of a server's shares were when they were taken.
    pub async fn server_snapshot_sizes(&mut self, server_id: &str) -> StoreResult<Vec<(String, i64)>> {
        let sql = "SELECT n.share_id, CAST(SUM(n.size_gib) AS BIGINT) FROM share_snapshots n JOIN share_instances i ON i.share_id = n.share_id \
                   WHERE i.share_server_id = $1 GROUP BY n.share_id ORDER BY n.share_id";
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(server_id).fetch_all(c).await?))
    }

    /// A share on the server that a job is about, or that a run of ensure holds.
    pub async fn server_share_in_work(&mut self, server_id: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT i.share_id FROM share_instances i WHERE i.share_server_id = $1 AND (EXISTS (SELECT 1 FROM job_holds h WHERE h.order_key = i.share_id) \
                   OR EXISTS (SELECT 1 FROM jobs j WHERE j.order_key = i.share_id AND j.state <> 'done')) ORDER BY i.share_id LIMIT 1";
        let found: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(server_id).fetch_optional(c).await?);
        Ok(found.map(|(id,)| id))
    }

    /// A share on the server of which a clean-up may still delete something, by its id, on the back end that it is to go to.
    pub async fn server_share_cleaned_up(&mut self, server_id: &str, backend: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT i.share_id FROM share_instances i JOIN jobs j ON j.resource_id = i.id AND j.state <> 'done' \
                   WHERE i.share_server_id = $1 AND j.kind = 'share.cleanup' AND j.backend = $2 LIMIT 1";
        let found: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(server_id).bind(backend).fetch_optional(c).await?);
        Ok(found.map(|(id,)| id))
    }

    /// The share is where its server has moved to.
    pub async fn share_moved(&mut self, share_id: &str, to: &NewPlace<'_>, moved: &MovedShare, now: Micros) -> StoreResult<()> {
        let sql = "UPDATE share_instances SET host = $2, backend = $3, share_server_id = $4, availability_zone = $5, provider_id = $6, \
                   provider_data = $7, updated_at = $8 WHERE share_id = $1";
        let host = format!("{}#{}", to.backend, moved.pool);
        on_tx!(self, c => sqlx::query(sql).bind(share_id).bind(&host).bind(to.backend).bind(to.server_id).bind(to.availability_zone)
            .bind(&moved.provider_id).bind(&moved.provider_data).bind(now).execute(c).await?.rows_affected());
        let sql = "UPDATE shares SET share_network_id = $2 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(share_id).bind(to.network_id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// What the driver wants back with a snapshot that has moved with its share.
    pub async fn snapshot_instance_moved(&mut self, moved: &MovedSnapshot, now: Micros) -> StoreResult<()> {
        let sql = "UPDATE share_snapshot_instances SET provider_id = $2, provider_data = $3, updated_at = $4 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(&moved.id).bind(&moved.provider_id).bind(&moved.provider_data).bind(now)
            .execute(c).await?.rows_affected());
        Ok(())
    }

    /// Holds the capacity groups and pools of these back ends, in the order in which everybody does: for what moves much at once.
    pub async fn hold_pools_of_backends(&mut self, backends: [&str; 2]) -> StoreResult<()> {
        let sql = "SELECT name, capacity_key FROM pools WHERE host IN ($1, $2) ORDER BY capacity_key, name";
        let places: Vec<(String, String)> = on_tx!(self, t => sqlx::query_as(sql).bind(backends[0]).bind(backends[1]).fetch_all(t).await?);
        self.hold_these(&places).await
    }
}
