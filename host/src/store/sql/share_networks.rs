//! Share networks, and the security services that each uses.
//!
//! A network that was deleted while it had servers stays until the last of them is gone; no read here finds it
//! ([`Tx::share_network_reap`] removes it). Whoever adds a subnet, a security service or a server to a network holds its row.

use std::collections::HashMap;

use crate::{
    clock::Micros,
    domain::share_network::NetworkStatus,
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value},
        on_read, on_tx,
        sql::share_servers::NEVER_BUILT,
    },
};

/// A share network as it stands in the database.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ShareNetworkRow {
    pub id: String,
    pub project_id: String,
    pub user_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub status: String,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

/// What all servers of a network can do; a network without any can everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerSupport {
    pub servers: i64,
    pub security_service_update: bool,
    pub network_allocation_update: bool,
}

impl Default for ServerSupport {
    fn default() -> Self {
        Self { servers: 0, security_service_update: true, network_allocation_update: true }
    }
}

#[derive(sqlx::FromRow)]
struct SupportRow {
    share_network_id: String,
    servers: i64,
    security_service: i64,
    network_allocation: i64,
}

pub(super) const SELECT: &str = "SELECT n.id, n.project_id, n.user_id, n.name, n.description, n.status, n.created_at, n.updated_at FROM share_networks n WHERE NOT n.deleting";

/// How the servers of networks stand together; those that could not be built say nothing.
fn support_sql<'a>(ids: impl IntoIterator<Item = &'a str>) -> Sql {
    let mut sql = Sql::new(
        "SELECT share_network_id, COUNT(*) AS servers, \
         CAST(MIN(CASE WHEN security_service_update_support THEN 1 ELSE 0 END) AS BIGINT) AS security_service, \
         CAST(MIN(CASE WHEN network_allocation_update_support THEN 1 ELSE 0 END) AS BIGINT) AS network_allocation \
         FROM share_servers v WHERE share_network_id IN ",
    );
    sql.bind_list(ids).push(" AND NOT ").push(NEVER_BUILT).push(" GROUP BY share_network_id");
    sql
}

fn supports(rows: Vec<SupportRow>) -> HashMap<String, ServerSupport> {
    let support = |r: &SupportRow| ServerSupport {
        servers: r.servers,
        security_service_update: r.security_service == 1,
        network_allocation_update: r.network_allocation == 1,
    };
    rows.into_iter().map(|r| (r.share_network_id.clone(), support(&r))).collect()
}

impl Store {
    pub async fn share_network(&self, id: &str) -> StoreResult<Option<ShareNetworkRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} AND n.id = $1"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }

    /// How the servers of these networks stand together, by network; those without servers are left out.
    pub async fn share_network_support(&self, ids: impl IntoIterator<Item = &str>) -> StoreResult<HashMap<String, ServerSupport>> {
        let sql = support_sql(ids);
        if sql.values.is_empty() {
            return Ok(HashMap::new());
        }
        Ok(supports(self.fetch_all(sql).await?))
    }
}

impl Tx {
    /// The network, which nobody else locks or keeps until the transaction ends. Locked as by a change of it: rows that name the
    /// network can be written meanwhile. A transaction that changes a server twice has its network looked up, and must not wait
    /// for one that waits for the server.
    pub async fn share_network_locked(&mut self, id: &str) -> StoreResult<Option<ShareNetworkRow>> {
        let sql = "UPDATE share_networks SET status = status WHERE id = $1 AND NOT deleting";
        if on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 0 {
            return Ok(None);
        }
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} AND n.id = $1"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_optional(c).await?))
    }

    /// As [`Tx::share_network_locked`], also one that was deleted and waits for its last server to go, which its users do not see.
    /// False: it is gone.
    pub async fn share_network_locked_if_deleted_too(&mut self, id: &str) -> StoreResult<bool> {
        let sql = "UPDATE share_networks SET status = status WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// The network, which nobody changes or deletes until the transaction ends; others may keep it, too: for what is made on it.
    pub async fn share_network_kept(&mut self, id: &str) -> StoreResult<Option<ShareNetworkRow>> {
        let text = format!("{SELECT} AND n.id = $1 {}", self.dialect().expand("{for_share}"));
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(text)).bind(id).fetch_optional(c).await?))
    }

    /// How the servers of a network, which the caller holds, stand together.
    pub async fn share_network_support(&mut self, id: &str) -> StoreResult<ServerSupport> {
        let rows = self.fetch_all(support_sql([id])).await?;
        Ok(supports(rows).remove(id).unwrap_or_default())
    }

    pub async fn share_network_insert(&mut self, n: &ShareNetworkRow) -> StoreResult<()> {
        let sql = "INSERT INTO share_networks (id, project_id, user_id, name, description, status, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)";
        on_tx!(self, c => sqlx::query(sql).bind(&n.id).bind(&n.project_id).bind(&n.user_id).bind(&n.name).bind(&n.description).bind(&n.status)
            .bind(n.created_at).execute(c).await?.rows_affected());
        Ok(())
    }

    /// None leaves a column as it is.
    pub async fn share_network_describe(
        &mut self,
        id: &str,
        name: Option<Option<&str>>,
        description: Option<Option<&str>>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE share_networks SET updated_at = ");
        sql.bind(now);
        for (column, value) in [("name", name), ("description", description)] {
            if let Some(value) = value {
                sql.push(", ").push(column).push(" = ").bind(Value::Text(value.map(str::to_owned)));
            }
        }
        sql.push(" WHERE NOT deleting AND id = ").bind(id);
        self.run(sql).await
    }

    /// `from` -> `to`; false when the network is in none of `from` (or is gone).
    pub async fn share_network_status(&mut self, id: &str, from: &[NetworkStatus], to: NetworkStatus, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE share_networks SET status = ");
        sql.bind(to.as_str()).push(", updated_at = ").bind(now).push(" WHERE NOT deleting AND id = ").bind(id);
        sql.push(" AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        self.run(sql).await
    }

    /// Nobody sees the network and its subnets any more; they go with its last server.
    pub async fn share_network_hide(&mut self, id: &str, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE share_networks SET deleting = TRUE, updated_at = $2 WHERE id = $1 AND NOT deleting";
        let hidden = on_tx!(self, c => sqlx::query(sql).bind(id).bind(now).execute(c).await?.rows_affected()) == 1;
        let sql = "UPDATE share_network_subnets SET deleting = TRUE, updated_at = $2 WHERE share_network_id = $1 AND NOT deleting";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(now).execute(c).await?.rows_affected());
        Ok(hidden)
    }

    /// Removes what was hidden and has no server left: subnets of the network, and it itself. The caller holds its row, or has
    /// just removed a server of it.
    pub async fn share_network_reap(&mut self, id: &str) -> StoreResult<()> {
        for sql in [
            "DELETE FROM share_network_subnets WHERE share_network_id = $1 AND deleting \
             AND NOT EXISTS (SELECT 1 FROM share_server_subnets m WHERE m.subnet_id = share_network_subnets.id)",
            "DELETE FROM share_networks WHERE id = $1 AND deleting AND NOT EXISTS (SELECT 1 FROM share_servers v WHERE v.share_network_id = share_networks.id)",
        ] {
            on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        }
        Ok(())
    }

    /// How many shares are on the network.
    pub async fn share_network_share_count(&mut self, id: &str) -> StoreResult<i64> {
        let sql = "SELECT COUNT(*) FROM shares WHERE share_network_id = $1";
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_one(c).await?);
        Ok(n)
    }

    /// # Errors
    /// [`StoreError::Duplicate`](crate::store::StoreError::Duplicate) when the network has it already,
    /// [`StoreError::Missing`](crate::store::StoreError::Missing) when one of the two is gone.
    pub async fn share_network_use_service(&mut self, id: &str, service_id: &str) -> StoreResult<()> {
        let sql = "INSERT INTO share_network_security_services (share_network_id, security_service_id) VALUES ($1, $2)";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(service_id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// False: the network does not have it.
    pub async fn share_network_drop_service(&mut self, id: &str, service_id: &str) -> StoreResult<bool> {
        let sql = "DELETE FROM share_network_security_services WHERE share_network_id = $1 AND security_service_id = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(service_id).execute(c).await?.rows_affected()) == 1)
    }
}
