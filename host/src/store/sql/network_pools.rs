//! What the built-in network plug-in may still give: a pool a subnet, its free addresses as intervals of positions.
//!
//! Every change is made by a transaction that holds the pool's row ([`Tx::address_pool_locked`]).

use crate::store::{StoreResult, Tx, bind::Sql, on_tx};

/// How many intervals one statement inserts.
const CHUNK: usize = 500;

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct PoolOfAddresses {
    /// What its intervals were made from; empty: never.
    pub ranges: String,
    /// Where the next search begins.
    pub next_position: i64,
}

impl Tx {
    /// The pool, held until the transaction ends. One that is not there is made, with nothing in it.
    pub async fn address_pool_locked(&mut self, key: &str) -> StoreResult<PoolOfAddresses> {
        let sql = "INSERT INTO network_pools (network_key, ranges, next_position) VALUES ($1, '', 0) ON CONFLICT (network_key) DO NOTHING";
        on_tx!(self, c => sqlx::query(sql).bind(key).execute(c).await?.rows_affected());
        let sql = self.dialect().sql("SELECT ranges, next_position FROM network_pools WHERE network_key = $1 {for_update}");
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(key).fetch_one(c).await?))
    }

    /// Makes the pool from other ranges.
    pub async fn address_pool_rewrite(&mut self, key: &str, ranges: &str, free: &[(i64, i64)]) -> StoreResult<()> {
        let sql = "UPDATE network_pools SET ranges = $2, next_position = 0 WHERE network_key = $1";
        on_tx!(self, c => sqlx::query(sql).bind(key).bind(ranges).execute(c).await?.rows_affected());
        on_tx!(self, c => sqlx::query("DELETE FROM network_free WHERE network_key = $1").bind(key).execute(c).await?.rows_affected());
        for chunk in free.chunks(CHUNK) {
            let mut sql = Sql::new("INSERT INTO network_free (network_key, first_position, last_position) VALUES ");
            for (n, (first, last)) in chunk.iter().enumerate() {
                sql.push(if n > 0 { ", (" } else { "(" }).bind(key).push(", ").bind(*first).push(", ").bind(*last).push(")");
            }
            self.run(sql).await?;
        }
        Ok(())
    }

    /// Where the next search begins.
    pub async fn address_pool_next(&mut self, key: &str, position: i64) -> StoreResult<()> {
        let sql = "UPDATE network_pools SET next_position = $2 WHERE network_key = $1";
        on_tx!(self, c => sqlx::query(sql).bind(key).bind(position).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The first interval with an address at or after `position`.
    pub async fn free_interval_from(&mut self, key: &str, position: i64) -> StoreResult<Option<(i64, i64)>> {
        let sql = "SELECT first_position, last_position FROM network_free WHERE network_key = $1 AND last_position >= $2 \
                   ORDER BY last_position LIMIT 1";
        self.free_interval(sql, key, position).await
    }

    pub async fn free_interval_ending(&mut self, key: &str, last: i64) -> StoreResult<Option<(i64, i64)>> {
        let sql = "SELECT first_position, last_position FROM network_free WHERE network_key = $1 AND last_position = $2";
        self.free_interval(sql, key, last).await
    }

    pub async fn free_interval_beginning(&mut self, key: &str, first: i64) -> StoreResult<Option<(i64, i64)>> {
        let sql = "SELECT first_position, last_position FROM network_free WHERE network_key = $1 AND first_position = $2";
        self.free_interval(sql, key, first).await
    }

    async fn free_interval(&mut self, sql: &'static str, key: &str, position: i64) -> StoreResult<Option<(i64, i64)>> {
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(key).bind(position).fetch_optional(c).await?))
    }

    pub async fn free_interval_insert(&mut self, key: &str, first: i64, last: i64) -> StoreResult<()> {
        let sql = "INSERT INTO network_free (network_key, first_position, last_position) VALUES ($1, $2, $3)";
        on_tx!(self, c => sqlx::query(sql).bind(key).bind(first).bind(last).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The interval that ends at `last`.
    pub async fn free_interval_remove(&mut self, key: &str, last: i64) -> StoreResult<()> {
        let sql = "DELETE FROM network_free WHERE network_key = $1 AND last_position = $2";
        on_tx!(self, c => sqlx::query(sql).bind(key).bind(last).execute(c).await?.rows_affected());
        Ok(())
    }
}
