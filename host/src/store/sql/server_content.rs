//! What a share server consists of and what lives on it: subnets, shares, snapshots, access rules.

use super::{
    share_access::AccessRow,
    share_snapshots::{self, ShareSnapshotRow},
    shares::{self, ShareRow},
};
use crate::{
    clock::Micros,
    domain::{share_access::AccessState, share_server::ServerStatus, share_snapshot::ShareSnapshotStatus},
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

const PROMISED: &str = "SELECT s.id FROM share_network_subnets s JOIN share_server_subnets m ON m.subnet_id = s.id \
     WHERE m.share_server_id = $1 AND NOT m.applied ORDER BY s.created_at, s.id";

impl Store {
    /// The shares on a server, the oldest first.
    pub async fn shares_on_server(&self, server_id: &str) -> StoreResult<Vec<ShareRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{} WHERE i.share_server_id = $1 ORDER BY s.created_at, s.id", shares::SELECT));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(server_id).fetch_all(p).await?))
    }

    /// The snapshots of the shares on a server, the oldest first, but for those of which the array holds nothing.
    pub async fn snapshots_on_server(&self, server_id: &str) -> StoreResult<Vec<ShareSnapshotRow>> {
        let select = share_snapshots::SELECT;
        let text = format!("{select} WHERE si.share_server_id = $1 AND i.backed AND n.status <> $2 ORDER BY n.created_at, n.id");
        Ok(
            on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(text)).bind(server_id).bind(ShareSnapshotStatus::Deleting.as_str()).fetch_all(p).await?),
        )
    }

    /// The rules of the shares on a server, of each the oldest first.
    pub async fn rules_on_server(&self, server_id: &str) -> StoreResult<Vec<AccessRow>> {
        let sql = "SELECT r.id, r.share_id, r.access_type, r.access_to, r.access_level, r.access_key, r.state, r.withdrawn, r.created_at, r.updated_at \
                   FROM share_access_rules r JOIN share_instances i ON i.share_id = r.share_id WHERE i.share_server_id = $1 \
                   ORDER BY r.created_at, r.id";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(server_id).fetch_all(p).await?))
    }

    /// The subnets that the server was promised and that its driver has not given it, by id, the oldest first.
    pub async fn promised_subnets(&self, server_id: &str) -> StoreResult<Vec<String>> {
        let rows: Vec<(String,)> = on_read!(self, p => sqlx::query_as(PROMISED).bind(server_id).fetch_all(p).await?);
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }
}

impl Tx {
    /// As [`Store::promised_subnets`].
    pub async fn promised_subnets(&mut self, server_id: &str) -> StoreResult<Vec<String>> {
        let rows: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(PROMISED).bind(server_id).fetch_all(c).await?);
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    /// The server is promised this subnet; its driver has not given it yet.
    pub async fn share_server_promised(&mut self, id: &str, subnet_id: &str) -> StoreResult<()> {
        let sql = "INSERT INTO share_server_subnets (share_server_id, subnet_id, applied) VALUES ($1, $2, FALSE)";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(subnet_id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The driver has put the server on a subnet that it was promised.
    pub async fn share_server_subnet_applied(&mut self, id: &str, subnet_id: &str) -> StoreResult<bool> {
        let sql = "UPDATE share_server_subnets SET applied = TRUE WHERE share_server_id = $1 AND subnet_id = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(subnet_id).execute(c).await?.rows_affected()) == 1)
    }

    /// The shares on a server, as they are now.
    pub async fn shares_on_server(&mut self, server_id: &str) -> StoreResult<Vec<ShareRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{} WHERE i.share_server_id = $1 ORDER BY s.created_at, s.id", shares::SELECT));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(server_id).fetch_all(c).await?))
    }

    /// Nobody knows whether the rules of these shares hold: those that shall, are in error.
    pub async fn server_rules_failed(&mut self, server_id: &str, now: Micros) -> StoreResult<u64> {
        let mut sql = Sql::new("UPDATE share_access_rules SET state = ");
        sql.bind(AccessState::Error.as_str()).push(", updated_at = ").bind(now);
        sql.push(" WHERE share_id IN (SELECT share_id FROM share_instances WHERE share_server_id = ")
            .bind(server_id)
            .push(") AND state NOT IN ");
        sql.bind_list([AccessState::QueuedToDeny, AccessState::Denying, AccessState::Error].map(AccessState::as_str));
        self.run_on(sql).await
    }

    /// The status of the server that a share is on. None: it is on none.
    pub async fn server_status_of_share(&mut self, share_id: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT v.status FROM share_instances i JOIN share_servers v ON v.id = i.share_server_id WHERE i.share_id = $1";
        let found: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(share_id).fetch_optional(c).await?);
        Ok(found.map(|(status,)| status))
    }

    /// Whether the share's server could not be given a subnet, and waits to be given it again.
    pub async fn share_waits_for_its_server(&mut self, share_id: &str) -> StoreResult<bool> {
        let sql = "SELECT COUNT(*) FROM share_instances i JOIN share_servers v ON v.id = i.share_server_id \
                   JOIN share_server_subnets m ON m.share_server_id = v.id WHERE i.share_id = $1 AND v.status = $2 AND NOT m.applied";
        let error = ServerStatus::Error.as_str();
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(share_id).bind(error).fetch_one(c).await?);
        Ok(n > 0)
    }

    /// The rules of a share that are in error wait for what was wanted of them: those that were withdrawn to be taken away, the
    /// others to be applied; how many.
    pub async fn share_rules_retry(&mut self, share_id: &str, now: Micros) -> StoreResult<u64> {
        let sql = "UPDATE share_access_rules SET state = CASE WHEN withdrawn THEN 'queued_to_deny' ELSE 'queued_to_apply' END, updated_at = $2 \
                   WHERE share_id = $1 AND state = 'error'";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(share_id).bind(now).execute(c).await?.rows_affected()))
    }

    /// What its driver wants back with a snapshot. False: it is gone.
    pub async fn snapshot_instance_data(&mut self, instance_id: &str, provider_data: Option<&str>, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE share_snapshot_instances SET provider_data = COALESCE($2, provider_data), updated_at = $3 WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(instance_id).bind(provider_data).bind(now).execute(c).await?.rows_affected()) == 1)
    }
}
