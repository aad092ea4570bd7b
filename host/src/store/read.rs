//! Reads whose statement is put together at run time, outside a transaction and inside one.

use sqlx::{FromRow, postgres::PgRow, sqlite::SqliteRow};

use super::{
    Store, StoreResult, Tx,
    bind::{Sql, bind_values},
    on_read, on_tx,
};

/// A row of either database.
pub(in crate::store) trait Row: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}
impl<T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin> Row for T {}

impl Store {
    /// Every row.
    pub(in crate::store) async fn fetch_all<T: Row>(&self, sql: Sql) -> StoreResult<Vec<T>> {
        let Sql { text, values } = sql;
        Ok(on_read!(self, p => bind_values!(sqlx::query_as(sqlx::AssertSqlSafe(text)), values).fetch_all(p).await?))
    }

    /// The only row: of a count, a sum.
    pub(in crate::store) async fn fetch_one<T: Row>(&self, sql: Sql) -> StoreResult<T> {
        let Sql { text, values } = sql;
        Ok(on_read!(self, p => bind_values!(sqlx::query_as(sqlx::AssertSqlSafe(text)), values).fetch_one(p).await?))
    }
}

impl Tx {
    /// Every row.
    pub(in crate::store) async fn fetch_all<T: Row>(&mut self, sql: Sql) -> StoreResult<Vec<T>> {
        let Sql { text, values } = sql;
        Ok(on_tx!(self, c => bind_values!(sqlx::query_as(sqlx::AssertSqlSafe(text)), values).fetch_all(c).await?))
    }
}
