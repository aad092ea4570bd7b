//! Where SQLite and PostgreSQL differ. Each exception stands here once and has a test on both.
//!
//! A statement that needs one is written with a placeholder in braces and goes through [`Dialect::sql`]:
//! `{now}` the database's clock in microseconds, `{skip_locked}` the locking clause of a queue's sub-select,
//! `{for_update}` the row lock of a read inside a write transaction, `{for_share}` one that several may hold against a writer.

use std::borrow::Cow;

use sqlx::AssertSqlSafe;

use super::{
    open::{Db, Store},
    tx::{Inner, Tx},
};

/// Which database is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// SQL for "now" by the database's clock, in microseconds since the epoch. Two processes whose own clocks differ agree on it.
    pub const fn now(self) -> &'static str {
        match self {
            Self::Sqlite => "CAST(unixepoch('subsec') * 1000000 AS BIGINT)",
            Self::Postgres => "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT",
        }
    }

    /// Takes rows that no other transaction holds. SQLite has one writer, so there is nothing to skip.
    const fn skip_locked(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => "FOR UPDATE SKIP LOCKED",
        }
    }

    /// Holds the rows read until the transaction ends. On SQLite the transaction holds everything.
    const fn for_update(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => "FOR UPDATE",
        }
    }

    /// Keeps the rows read as they are until the transaction ends, together with others who read them so.
    const fn for_share(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => "FOR SHARE",
        }
    }

    /// Replaces the placeholders. `text` is one of our own constants, so what comes out is as safe as what went in.
    pub fn sql(self, text: &'static str) -> AssertSqlSafe<Cow<'static, str>> {
        AssertSqlSafe(self.expand(text))
    }

    /// As [`Self::sql`], for a part of a statement.
    pub fn expand(self, text: &'static str) -> Cow<'static, str> {
        if !text.contains('{') {
            return Cow::Borrowed(text);
        }
        Cow::Owned(
            text.replace("{now}", self.now())
                .replace("{skip_locked}", self.skip_locked())
                .replace("{for_update}", self.for_update())
                .replace("{for_share}", self.for_share()),
        )
    }
}

impl Store {
    pub fn dialect(&self) -> Dialect {
        match self.db() {
            Db::Sqlite { .. } => Dialect::Sqlite,
            Db::Postgres(_) => Dialect::Postgres,
        }
    }
}

impl Tx {
    pub fn dialect(&self) -> Dialect {
        match &self.inner {
            Inner::Sqlite(_) => Dialect::Sqlite,
            Inner::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Serialises transactions that concern `key` until this one ends, where no row stands for it yet.
    /// Nothing to do on SQLite: an open [`Tx`] is the only writer.
    pub async fn lock_key(&mut self, key: &str) -> super::StoreResult<()> {
        if let Inner::Postgres(t) = &mut self.inner {
            sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))").bind(key).execute(&mut **t).await?;
        }
        Ok(())
    }

    /// As [`Tx::lock_key`], of several: whoever takes some of the same waits and does not deadlock. The server has room for some
    /// thousands in all its transactions together: take few at a time.
    pub async fn lock_keys(&mut self, keys: &[String]) -> super::StoreResult<()> {
        if let Inner::Postgres(t) = &mut self.inner {
            // the order of a sub-select stays, as the planner does not take apart one that has an order
            let sql = "SELECT pg_advisory_xact_lock(o.k) FROM \
                           (SELECT DISTINCT hashtextextended(t, 0) AS k FROM unnest($1::TEXT[]) AS t ORDER BY k) AS o";
            sqlx::query(sql).bind(keys).execute(&mut **t).await?;
        }
        Ok(())
    }

    /// Keeps every other transaction from changing a table until this one ends; readers go on. On SQLite an open [`Tx`] does.
    pub(in crate::store) async fn lock_table(&mut self, table: &'static str) -> super::StoreResult<()> {
        if let Inner::Postgres(t) = &mut self.inner {
            sqlx::query(AssertSqlSafe(format!("LOCK TABLE {table} IN EXCLUSIVE MODE"))).execute(&mut **t).await?;
        }
        Ok(())
    }

    /// Wakes the other processes once this transaction has committed. It only wakes: losing it delays by one poll.
    /// Nothing to do on SQLite: there are no other processes.
    pub async fn notify(&mut self, channel: &'static str, payload: &str) -> super::StoreResult<()> {
        if let Inner::Postgres(t) = &mut self.inner {
            sqlx::query("SELECT pg_notify($1, $2)").bind(channel).bind(payload).execute(&mut **t).await?;
        }
        Ok(())
    }
}

/// SQL for "now" by the database's clock, in microseconds since the epoch.
pub fn now_expr(store: &Store) -> &'static str {
    store.dialect().now()
}
