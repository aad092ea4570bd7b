//! Share servers: what a driver built in users' networks, over one or several subnets of one network.

use std::collections::HashMap;

use crate::{
    clock::Micros,
    domain::{share_server::ServerStatus, text_enum},
    store::{
        Store, StoreError, StoreResult, Tx,
        bind::{Sql, Value},
        keyset::{ListKey, ListQuery},
        on_read, on_tx,
    },
};

/// A server with its network's name, as it stands in the database.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ShareServerRow {
    pub id: String,
    pub share_network_id: String,
    pub network_name: Option<String>,
    pub project_id: String,
    /// `host@backend`
    pub backend: String,
    pub status: String,
    /// What the driver wants back with every call, as JSON. None: set-up never answered.
    pub details: Option<String>,
    pub identifier: String,
    pub is_auto_deletable: bool,
    pub network_allocation_update_support: bool,
    pub security_service_update_support: bool,
    /// Since when no share is on it.
    pub idle_since: Option<Micros>,
    /// How its migration stands, or how the last one ended.
    pub task_state: Option<String>,
    /// Which server it comes from. That may be gone.
    pub source_share_server_id: Option<String>,
    /// What the driver of its migration has said.
    pub migration_percent: Option<i64>,
    pub migration_can_cancel: Option<bool>,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

impl ShareServerRow {
    /// The driver's details; empty before set-up answered.
    pub fn details(&self) -> StoreResult<Vec<(String, String)>> {
        let Some(text) = &self.details else { return Ok(Vec::new()) };
        let map: std::collections::BTreeMap<String, String> =
            serde_json::from_str(text).map_err(|e| StoreError::Corrupt(format!("share_servers.details: {e}")))?;
        Ok(map.into_iter().collect())
    }
}

/// A server with the subnets it is on, by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareServer {
    pub row: ShareServerRow,
    pub subnet_ids: Vec<String>,
}

/// A server to be inserted.
#[derive(Debug, Clone)]
pub struct NewShareServer {
    pub id: String,
    pub share_network_id: String,
    pub project_id: String,
    pub backend: String,
    pub status: ServerStatus,
    pub is_auto_deletable: bool,
    pub network_allocation_update_support: bool,
    pub security_service_update_support: bool,
    pub subnet_ids: Vec<String>,
    /// Which one moves here.
    pub source_share_server_id: Option<String>,
    pub created_at: Micros,
}

text_enum! {
    /// What share servers can be sorted by.
    pub enum ServerSort {
        Id = "id",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        Host = "host",
        Status = "status",
        ProjectId = "project_id",
        ShareNetworkId = "share_network_id",
    }
}

impl ListKey for ServerSort {
    type Row = ShareServerRow;
    const KEYS: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
    fn column(self) -> &'static str {
        match self {
            Self::Id => "v.id",
            Self::CreatedAt => "v.created_at",
            Self::UpdatedAt => "COALESCE(v.updated_at, 0)",
            Self::Host => "v.backend",
            Self::Status => "v.status",
            Self::ProjectId => "v.project_id",
            Self::ShareNetworkId => "v.share_network_id",
        }
    }
    fn value(self, v: &ShareServerRow) -> Value {
        match self {
            Self::Id => Value::from(v.id.as_str()),
            Self::CreatedAt => Value::from(v.created_at),
            Self::UpdatedAt => Value::from(v.updated_at.unwrap_or(0)),
            Self::Host => Value::from(v.backend.as_str()),
            Self::Status => Value::from(v.status.as_str()),
            Self::ProjectId => Value::from(v.project_id.as_str()),
            Self::ShareNetworkId => Value::from(v.share_network_id.as_str()),
        }
    }
}

/// One condition of a list. Columns are ours, never a client's text.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerFilter {
    Equals(&'static str, Value),
    /// The network's id or name.
    Network(String),
    Subnet(String),
    /// Nothing matches.
    Never,
}

/// A list of share servers to be read.
pub type ServerQuery = ListQuery<ServerFilter>;

const SELECT: &str = "SELECT v.id, v.share_network_id, n.name AS network_name, v.project_id, v.backend, v.status, v.details, v.identifier, v.is_auto_deletable, \
     v.network_allocation_update_support, v.security_service_update_support, v.idle_since, v.task_state, v.source_share_server_id, v.migration_percent, \
     v.migration_can_cancel, v.created_at, v.updated_at \
     FROM share_servers v JOIN share_networks n ON n.id = v.share_network_id";

/// The server `v` could not be built, and what there was of it is gone but for a clean-up: it has no address. Nobody but
/// operators has to do with it any more.
pub(super) const NEVER_BUILT: &str = "(v.status = 'error' AND v.failed_detail IS NOT NULL \
     AND NOT EXISTS (SELECT 1 FROM network_allocations a WHERE a.share_server_id = v.id))";

impl Store {
    pub async fn share_server(&self, id: &str) -> StoreResult<Option<ShareServer>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE v.id = $1"));
        let row: Option<ShareServerRow> = on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?);
        Ok(self.share_servers_completed(row.into_iter().collect()).await?.pop())
    }

    pub async fn share_servers(&self, query: &ServerQuery) -> StoreResult<Vec<ShareServer>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE TRUE"));
        for filter in &query.filters {
            match filter {
                ServerFilter::Equals(column, value) => sql.push(" AND ").push(column).push(" = ").bind(value.clone()),
                ServerFilter::Network(word) => {
                    sql.push(" AND (n.id = ").bind(word.as_str()).push(" OR n.name = ").bind(word.as_str()).push(")")
                }
                ServerFilter::Subnet(id) => sql
                    .push(" AND EXISTS (SELECT 1 FROM share_server_subnets m WHERE m.share_server_id = v.id AND m.subnet_id = ")
                    .bind(id.as_str())
                    .push(")"),
                ServerFilter::Never => sql.push(" AND 1 = 0"),
            };
        }
        query.push_page(&mut sql);
        let rows = self.fetch_all(sql).await?;
        self.share_servers_completed(rows).await
    }

    async fn share_servers_completed(&self, rows: Vec<ShareServerRow>) -> StoreResult<Vec<ShareServer>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut sql = Sql::new("SELECT share_server_id, subnet_id FROM share_server_subnets WHERE share_server_id IN ");
        sql.bind_list(rows.iter().map(|r| r.id.as_str())).push(" ORDER BY subnet_id");
        let found: Vec<(String, String)> = self.fetch_all(sql).await?;
        let mut subnets: HashMap<String, Vec<String>> = HashMap::new();
        for (server, subnet) in found {
            subnets.entry(server).or_default().push(subnet);
        }
        Ok(rows.into_iter().map(|row| ShareServer { subnet_ids: subnets.remove(&row.id).unwrap_or_default(), row }).collect())
    }
}

impl Tx {
    /// The server, held until the transaction ends.
    pub async fn share_server_locked(&mut self, id: &str) -> StoreResult<Option<ShareServerRow>> {
        let found = on_tx!(self, c => sqlx::query("UPDATE share_servers SET status = status WHERE id = $1").bind(id).execute(c).await?.rows_affected());
        if found == 0 {
            return Ok(None);
        }
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE v.id = $1"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_optional(c).await?))
    }

    /// The servers of a network, which the caller holds: all, or those on one subnet of it.
    pub async fn share_servers_of(&mut self, network_id: &str, subnet_id: Option<&str>) -> StoreResult<Vec<ShareServerRow>> {
        self.servers_where("TRUE", network_id, subnet_id).await
    }

    /// As [`Tx::share_servers_of`], but for those that could not be built.
    pub async fn built_servers_of(&mut self, network_id: &str) -> StoreResult<Vec<ShareServerRow>> {
        self.servers_where(&format!("NOT {NEVER_BUILT}"), network_id, None).await
    }

    /// As [`Tx::built_servers_of`], those on any of these subnets of the network.
    pub async fn built_servers_on(&mut self, network_id: &str, subnet_ids: impl Iterator<Item = &str>) -> StoreResult<Vec<ShareServerRow>> {
        let mut on = Sql::new(format!("{SELECT} WHERE NOT {NEVER_BUILT} AND v.share_network_id = "));
        on.bind(network_id);
        let none = on.values.len();
        on.push(" AND EXISTS (SELECT 1 FROM share_server_subnets m WHERE m.share_server_id = v.id AND m.subnet_id IN ")
            .bind_list(subnet_ids);
        if on.values.len() == none {
            return Ok(Vec::new());
        }
        on.push(") ORDER BY v.id");
        self.fetch_all(on).await
    }

    async fn servers_where(&mut self, condition: &str, network_id: &str, subnet_id: Option<&str>) -> StoreResult<Vec<ShareServerRow>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE {condition} AND v.share_network_id = "));
        sql.bind(network_id);
        if let Some(subnet) = subnet_id {
            sql.push(" AND EXISTS (SELECT 1 FROM share_server_subnets m WHERE m.share_server_id = v.id AND m.subnet_id = ")
                .bind(subnet)
                .push(")");
        }
        sql.push(" ORDER BY v.id");
        self.fetch_all(sql).await
    }

    pub async fn share_server_insert(&mut self, v: &NewShareServer) -> StoreResult<()> {
        let sql = "INSERT INTO share_servers (id, share_network_id, project_id, backend, status, identifier, is_auto_deletable, \
                   network_allocation_update_support, security_service_update_support, source_share_server_id, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $1, $6, $7, $8, $9, $10)";
        on_tx!(self, c => sqlx::query(sql).bind(&v.id).bind(&v.share_network_id).bind(&v.project_id).bind(&v.backend).bind(v.status.as_str())
            .bind(v.is_auto_deletable).bind(v.network_allocation_update_support).bind(v.security_service_update_support)
            .bind(&v.source_share_server_id).bind(v.created_at)
            .execute(c).await?.rows_affected());
        for subnet in &v.subnet_ids {
            self.share_server_joins(&v.id, subnet).await?;
        }
        Ok(())
    }

    /// The server is on this subnet, too.
    pub async fn share_server_joins(&mut self, id: &str, subnet_id: &str) -> StoreResult<()> {
        let sql = "INSERT INTO share_server_subnets (share_server_id, subnet_id) VALUES ($1, $2) ON CONFLICT (share_server_id, subnet_id) DO NOTHING";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(subnet_id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// `from` -> `to`; false when the server is in none of `from` (or is gone).
    pub async fn share_server_status(&mut self, id: &str, from: &[ServerStatus], to: ServerStatus, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE share_servers SET status = ");
        sql.bind(to.as_str()).push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id);
        sql.push(" AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        self.run(sql).await
    }

    /// What the driver wants back with every call: a JSON object of texts.
    pub async fn share_server_details(&mut self, id: &str, details: &str, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE share_servers SET details = $2, updated_at = $3 WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(details).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// The share lives on this server from now on.
    pub async fn share_server_takes(&mut self, id: &str, share_id: &str, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE share_servers SET idle_since = NULL WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        let sql = "UPDATE share_instances SET share_server_id = $1, updated_at = $3 WHERE share_id = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(share_id).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// How many shares are on a server.
    pub async fn share_server_share_count(&mut self, id: &str) -> StoreResult<i64> {
        let sql = "SELECT COUNT(*) FROM share_instances WHERE share_server_id = $1";
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_one(c).await?);
        Ok(n)
    }
}
