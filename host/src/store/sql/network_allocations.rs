//! Addresses given to share servers: written before they are used, gone when they are given back.

use crate::{
    clock::Micros,
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

/// An address of a share server.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct AllocationRow {
    pub id: String,
    pub share_server_id: String,
    /// None: in the operator's network.
    pub subnet_id: Option<String>,
    /// What no address is given twice in.
    pub network_key: String,
    /// Without a prefix length.
    pub ip_address: String,
    pub mac_address: Option<String>,
    /// Empty for addresses that users reach.
    pub label: String,
    pub created_at: Micros,
}

/// How many addresses are given in a network, and to how many servers.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct KeyRow {
    pub network_key: String,
    pub addresses: i64,
    pub servers: i64,
}

const OF_SERVER: &str = "SELECT id, share_server_id, subnet_id, network_key, ip_address, mac_address, label, created_at FROM network_allocations \
     WHERE share_server_id = $1 ORDER BY network_key, created_at, id";

impl Store {
    /// Every address of a server.
    pub async fn network_allocations_of(&self, server_id: &str) -> StoreResult<Vec<AllocationRow>> {
        Ok(on_read!(self, p => sqlx::query_as(OF_SERVER).bind(server_id).fetch_all(p).await?))
    }

    /// Every network that addresses are given in. It reads all of them: for operators' tools.
    pub async fn network_keys(&self) -> StoreResult<Vec<KeyRow>> {
        let sql = "SELECT network_key, COUNT(*) AS addresses, COUNT(DISTINCT share_server_id) AS servers FROM network_allocations \
                   GROUP BY network_key ORDER BY network_key";
        Ok(on_read!(self, p => sqlx::query_as(sql).fetch_all(p).await?))
    }

    /// Some of the servers with addresses in a network, by id.
    pub async fn servers_with_addresses_in(&self, network_key: &str, limit: i64) -> StoreResult<Vec<String>> {
        let sql = "SELECT DISTINCT share_server_id FROM network_allocations WHERE network_key = $1 ORDER BY share_server_id LIMIT $2";
        let rows: Vec<(String,)> = on_read!(self, p => sqlx::query_as(sql).bind(network_key).bind(limit).fetch_all(p).await?);
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }
}

impl Tx {
    /// Every address of a server.
    pub async fn network_allocations_of(&mut self, server_id: &str) -> StoreResult<Vec<AllocationRow>> {
        Ok(on_tx!(self, c => sqlx::query_as(OF_SERVER).bind(server_id).fetch_all(c).await?))
    }

    /// The addresses that a server has in one place, the oldest first. `subnet_id` none: in the operator's network.
    pub async fn network_allocations(
        &mut self,
        server_id: &str,
        subnet_id: Option<&str>,
        network_key: &str,
    ) -> StoreResult<Vec<AllocationRow>> {
        let all = self.network_allocations_of(server_id).await?;
        Ok(all.into_iter().filter(|a| a.subnet_id.as_deref() == subnet_id && a.network_key == network_key).collect())
    }

    /// Every address given in a network.
    pub async fn network_addresses(&mut self, network_key: &str) -> StoreResult<Vec<String>> {
        let sql = "SELECT ip_address FROM network_allocations WHERE network_key = $1";
        let rows: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(network_key).fetch_all(c).await?);
        Ok(rows.into_iter().map(|(address,)| address).collect())
    }

    /// Every address given in another network, with that network's key. It reads all of them: for when a pool is made again.
    pub async fn network_addresses_elsewhere(&mut self, network_key: &str) -> StoreResult<Vec<(String, String)>> {
        let sql = "SELECT network_key, ip_address FROM network_allocations WHERE network_key <> $1";
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(network_key).fetch_all(c).await?))
    }

    /// # Errors
    /// [`StoreError::Duplicate`](crate::store::StoreError::Duplicate) for an address that is given already,
    /// [`StoreError::Missing`](crate::store::StoreError::Missing) when the server or the subnet is gone.
    pub async fn network_allocation_insert(&mut self, a: &AllocationRow) -> StoreResult<()> {
        let sql = "INSERT INTO network_allocations (id, share_server_id, subnet_id, network_key, ip_address, mac_address, label, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        on_tx!(self, c => sqlx::query(sql).bind(&a.id).bind(&a.share_server_id).bind(&a.subnet_id).bind(&a.network_key).bind(&a.ip_address)
            .bind(&a.mac_address).bind(&a.label).bind(a.created_at).execute(c).await?.rows_affected());
        Ok(())
    }

    /// False: it was not there.
    pub async fn network_allocation_remove(&mut self, id: &str) -> StoreResult<bool> {
        let sql = "DELETE FROM network_allocations WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 1)
    }
}
