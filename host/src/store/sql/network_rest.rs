//! What on a share network is not at rest. The caller holds the network, so that nothing new comes onto it.

use crate::{
    domain::{
        share::{RulesStatus, ShareStatus},
        share_server::ServerStatus,
        share_snapshot::TRANSITIONAL,
    },
    store::{StoreResult, Tx, bind::Sql, on_tx},
};

impl Tx {
    /// A share of the network that is not available, and its status.
    pub async fn network_share_not_available(&mut self, network_id: &str) -> StoreResult<Option<(String, String)>> {
        let sql = "SELECT id, status FROM shares WHERE share_network_id = $1 AND status <> $2 ORDER BY created_at, id LIMIT 1";
        let available = ShareStatus::Available.as_str();
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(network_id).bind(available).fetch_optional(c).await?))
    }

    /// The shares of the network with a task, and the task's state.
    pub async fn network_share_tasks(&mut self, network_id: &str) -> StoreResult<Vec<(String, String)>> {
        let sql = "SELECT id, task_state FROM shares WHERE share_network_id = $1 AND task_state IS NOT NULL ORDER BY created_at, id";
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(network_id).fetch_all(c).await?))
    }

    /// A share of the network whose access rules do not all hold, and how they stand.
    pub async fn network_rules_not_active(&mut self, network_id: &str) -> StoreResult<Option<(String, String)>> {
        let sql = "SELECT s.id, i.access_rules_status FROM shares s JOIN share_instances i ON i.share_id = s.id \
                   WHERE s.share_network_id = $1 AND i.access_rules_status <> $2 ORDER BY s.created_at, s.id LIMIT 1";
        let active = RulesStatus::Active.as_str();
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(network_id).bind(active).fetch_optional(c).await?))
    }

    /// A snapshot of a share of the network that something works on, and its status.
    pub async fn network_snapshot_in_work(&mut self, network_id: &str) -> StoreResult<Option<(String, String)>> {
        let mut sql =
            Sql::new("SELECT n.id, n.status FROM share_snapshots n JOIN shares s ON s.id = n.share_id WHERE s.share_network_id = ");
        sql.bind(network_id).push(" AND n.status IN ").bind_list(TRANSITIONAL.iter().map(|s| s.as_str()));
        sql.push(" ORDER BY n.created_at, n.id LIMIT 1");
        Ok(self.fetch_all(sql).await?.pop())
    }

    /// A share of the network that a job is about, or that a run of ensure holds: whatever it shows, something works on it or on
    /// a snapshot of it.
    pub async fn network_share_in_work(&mut self, network_id: &str) -> StoreResult<Option<String>> {
        let sql = "SELECT s.id FROM shares s WHERE s.share_network_id = $1 AND (EXISTS (SELECT 1 FROM job_holds h WHERE h.order_key = s.id) \
                   OR EXISTS (SELECT 1 FROM jobs j WHERE j.order_key = s.id AND j.state <> 'done')) ORDER BY s.created_at, s.id LIMIT 1";
        let found: Option<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(network_id).fetch_optional(c).await?);
        Ok(found.map(|(id,)| id))
    }

    /// How many servers of the network are being given another subnet.
    pub async fn network_servers_in_change(&mut self, network_id: &str) -> StoreResult<i64> {
        let sql = "SELECT COUNT(*) FROM share_servers WHERE share_network_id = $1 AND status = $2";
        let changing = ServerStatus::NetworkChange.as_str();
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(network_id).bind(changing).fetch_one(c).await?);
        Ok(n)
    }
}
