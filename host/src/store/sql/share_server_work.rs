//! What happens to share servers: they are built, shares come and go, they are torn down.
//!
//! Whoever binds a share to a server, or begins to tear one down, holds the row of its share network; so no share comes to a
//! server that goes. When the last share of a server goes, the same transaction notes since when it is idle.

use std::collections::HashMap;

use crate::{
    clock::Micros,
    domain::share_server::ServerStatus,
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx, sql::share_servers::NEVER_BUILT},
};

/// Why a server could not be built.
#[derive(Debug, Clone, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct ServerFailure {
    /// The number of the message's detail.
    pub failed_detail: Option<String>,
    /// For users, beyond the detail's text.
    pub failed_text: Option<String>,
}

/// What lives on a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerLoad {
    pub shares: i64,
    /// Of the shares and of their snapshots.
    pub gib: i64,
}

impl Store {
    /// Servers without shares since `before` or longer, which may go, those that could not be built among them: id and network, the
    /// longest idle first.
    pub async fn idle_share_servers(&self, before: Micros, limit: i64) -> StoreResult<Vec<(String, String)>> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT v.id, v.share_network_id FROM share_servers v WHERE v.idle_since IS NOT NULL AND v.idle_since <= $1 \
             AND (v.status = $3 OR {NEVER_BUILT}) AND v.is_auto_deletable ORDER BY v.idle_since, v.id LIMIT $2"
        ));
        let active = ServerStatus::Active.as_str();
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(before).bind(limit).bind(active).fetch_all(p).await?))
    }

    /// Why a server could not be built; empty for one that was.
    pub async fn share_server_failure(&self, id: &str) -> StoreResult<ServerFailure> {
        let sql = "SELECT failed_detail, failed_text FROM share_servers WHERE id = $1";
        let found: Option<ServerFailure> = on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?);
        Ok(found.unwrap_or_default())
    }

    /// The server of the share that a snapshot was taken of.
    pub async fn share_server_of_snapshot(&self, snapshot_id: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT i.share_server_id FROM share_snapshots p JOIN share_instances i ON i.share_id = p.share_id WHERE p.id = $1";
        let found: Option<(Option<String>,)> = on_read!(self, p => sqlx::query_as(sql).bind(snapshot_id).fetch_optional(p).await?);
        Ok(found.and_then(|(id,)| id))
    }
}

impl Tx {
    /// What lives on each server of a network, which the caller holds; those on which nothing does are not among them.
    pub async fn share_server_loads(&mut self, network_id: &str) -> StoreResult<HashMap<String, ServerLoad>> {
        let sql = "SELECT i.share_server_id, COUNT(*), CAST(SUM(s.size_gib + COALESCE((SELECT SUM(n.size_gib) FROM share_snapshots n \
                   WHERE n.share_id = s.id), 0)) AS BIGINT) FROM share_servers v JOIN share_instances i ON i.share_server_id = v.id \
                   JOIN shares s ON s.id = i.share_id WHERE v.share_network_id = $1 GROUP BY i.share_server_id";
        let rows: Vec<(String, i64, i64)> = on_tx!(self, c => sqlx::query_as(sql).bind(network_id).fetch_all(c).await?);
        Ok(rows.into_iter().map(|(id, shares, gib)| (id, ServerLoad { shares, gib })).collect())
    }

    /// Whether it could not be built, and nothing is left of it but its row.
    pub async fn share_server_never_built(&mut self, id: &str) -> StoreResult<bool> {
        let sql = sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM share_servers v WHERE v.id = $1 AND {NEVER_BUILT}"));
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_one(c).await?);
        Ok(n > 0)
    }

    /// Whether its network, or a subnet that it is on, was deleted: for users it is gone.
    pub async fn share_server_is_left(&mut self, id: &str) -> StoreResult<bool> {
        let sql = "SELECT COUNT(*) FROM share_servers v JOIN share_networks n ON n.id = v.share_network_id WHERE v.id = $1 AND (n.deleting \
                   OR EXISTS (SELECT 1 FROM share_server_subnets m JOIN share_network_subnets s ON s.id = m.subnet_id \
                   WHERE m.share_server_id = v.id AND s.deleting))";
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_one(c).await?);
        Ok(n > 0)
    }

    /// By server of a network, the subnets that a share of it is exported on, by id: of one that is ready those that its driver
    /// has given it, of one in work all that it is promised.
    pub async fn share_server_subnet_ids(&mut self, network_id: &str) -> StoreResult<HashMap<String, Vec<String>>> {
        let sql = "SELECT v.id, m.subnet_id FROM share_server_subnets m JOIN share_servers v ON v.id = m.share_server_id \
                   WHERE v.share_network_id = $1 AND (m.applied OR v.status <> $2) ORDER BY m.subnet_id";
        let rows: Vec<(String, String)> =
            on_tx!(self, c => sqlx::query_as(sql).bind(network_id).bind(ServerStatus::Active.as_str()).fetch_all(c).await?);
        let mut found: HashMap<String, Vec<String>> = HashMap::new();
        for (server, subnet) in rows {
            found.entry(server).or_default().push(subnet);
        }
        Ok(found)
    }

    /// creating -> active, with what the driver wants back.
    pub async fn share_server_built(&mut self, id: &str, details: &str, identifier: Option<&str>, now: Micros) -> StoreResult<bool> {
        if !self.share_server_status(id, &[ServerStatus::Creating], ServerStatus::Active, now).await? {
            return Ok(false);
        }
        let sql = "UPDATE share_servers SET details = $2, identifier = COALESCE($3, identifier) WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(details).bind(identifier).execute(c).await?.rows_affected());
        Ok(true)
    }

    /// creating -> error. `details`: what is left of it on the array.
    pub async fn share_server_not_built(
        &mut self,
        id: &str,
        details: Option<&str>,
        failure: &ServerFailure,
        now: Micros,
    ) -> StoreResult<bool> {
        if !self.share_server_status(id, &[ServerStatus::Creating], ServerStatus::Error, now).await? {
            return Ok(false);
        }
        let sql = "UPDATE share_servers SET details = COALESCE($2, details), failed_detail = $3, failed_text = $4 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(details).bind(&failure.failed_detail).bind(&failure.failed_text)
            .execute(c).await?.rows_affected());
        Ok(true)
    }

    /// The server's row goes, provided it is being deleted, or let go of, or what was to move to it did not, and has no address left.
    pub async fn share_server_remove(&mut self, id: &str) -> StoreResult<bool> {
        let mut sql = Sql::new("DELETE FROM share_servers WHERE id = ");
        sql.bind(id).push(" AND status IN ");
        sql.bind_list([ServerStatus::Deleting, ServerStatus::Unmanaging, ServerStatus::ServerMigratingTo].map(ServerStatus::as_str));
        self.run(sql).await
    }

    /// The server that a share is on.
    pub(super) async fn share_server_of(&mut self, share_id: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT share_server_id FROM share_instances WHERE share_id = $1";
        let found: Option<(Option<String>,)> = on_tx!(self, c => sqlx::query_as(sql).bind(share_id).fetch_optional(c).await?);
        Ok(found.and_then(|(id,)| id))
    }

    /// A share has left this server: when none is on it any more, it is idle from now on.
    pub(super) async fn share_server_left(&mut self, id: Option<&str>, now: Micros) -> StoreResult<()> {
        let Some(id) = id else { return Ok(()) };
        // held first: of two shares that go at once the second one sees that it is the last
        let sql = "UPDATE share_servers SET idle_since = idle_since WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        let sql = "UPDATE share_servers SET idle_since = $2 WHERE id = $1 AND idle_since IS NULL \
                   AND NOT EXISTS (SELECT 1 FROM share_instances i WHERE i.share_server_id = share_servers.id)";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(now).execute(c).await?.rows_affected());
        Ok(())
    }

    /// An operator says what servers can do; how many there are of those named.
    pub async fn share_servers_can_update_allocations(&mut self, ids: &[String], can: bool, now: Micros) -> StoreResult<u64> {
        let mut sql = Sql::new("UPDATE share_servers SET network_allocation_update_support = ");
        sql.bind(can).push(", updated_at = ").bind(now).push(" WHERE id IN ").bind_list(ids.iter().map(String::as_str));
        self.run_on(sql).await
    }
}
