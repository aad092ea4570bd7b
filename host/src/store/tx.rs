//! One write transaction. On SQLite it is BEGIN IMMEDIATE on the single writer connection.

use super::{
    StoreResult,
    bind::{Sql, bind_values},
    on_tx,
    open::{Db, Store},
};
use crate::quota::QuotaDefaults;

pub(in crate::store) enum Inner {
    Sqlite(sqlx::Transaction<'static, sqlx::Sqlite>),
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
}

type AfterCommit = Box<dyn FnOnce() + Send>;

/// An open write transaction. Dropping it rolls back.
pub struct Tx {
    pub(in crate::store) inner: Inner,
    pub(in crate::store) quota_defaults: QuotaDefaults,
    after: Vec<AfterCommit>,
}

impl Store {
    /// Opens a write transaction.
    ///
    /// # Errors
    /// [`StoreError::Busy`](super::StoreError::Busy) when no connection or lock came in time.
    pub async fn begin(&self) -> StoreResult<Tx> {
        let inner = match self.db() {
            Db::Sqlite { write, .. } => Inner::Sqlite(write.begin_with("BEGIN IMMEDIATE").await?),
            Db::Postgres(pool) => Inner::Postgres(pool.begin().await?),
        };
        Ok(Tx { inner, quota_defaults: self.quota_defaults().clone(), after: Vec::new() })
    }
}

impl Tx {
    /// Runs `hook` once this transaction has committed; never when it rolls back. Hooks must not block.
    pub fn after_commit(&mut self, hook: impl FnOnce() + Send + 'static) {
        self.after.push(Box::new(hook));
    }

    /// Commits, then runs the hooks in order.
    pub async fn commit(self) -> StoreResult<()> {
        match self.inner {
            Inner::Sqlite(t) => t.commit().await?,
            Inner::Postgres(t) => t.commit().await?,
        }
        for hook in self.after {
            hook();
        }
        Ok(())
    }

    /// Marks a point that [`Tx::rollback_to`] can return to, within this transaction.
    pub(crate) async fn savepoint(&mut self, name: &'static str) -> StoreResult<()> {
        self.command("SAVEPOINT", name).await
    }
    /// Undoes everything since the savepoint, its row locks included, and forgets the savepoint.
    pub(crate) async fn rollback_to(&mut self, name: &'static str) -> StoreResult<()> {
        self.command("ROLLBACK TO SAVEPOINT", name).await?;
        self.release_savepoint(name).await
    }
    /// Forgets the savepoint; what was done since stays.
    pub(crate) async fn release_savepoint(&mut self, name: &'static str) -> StoreResult<()> {
        self.command("RELEASE SAVEPOINT", name).await
    }
    async fn command(&mut self, verb: &'static str, name: &'static str) -> StoreResult<()> {
        let sql = sqlx::AssertSqlSafe(format!("{verb} {name}"));
        on_tx!(self, t => sqlx::query(sql).execute(t).await?.rows_affected());
        Ok(())
    }

    /// Runs a statement put together at run time; whether it changed anything.
    pub(in crate::store) async fn run(&mut self, sql: Sql) -> StoreResult<bool> {
        Ok(self.run_on(sql).await? > 0)
    }

    /// As [`Tx::run`]; how many rows it changed.
    pub(in crate::store) async fn run_on(&mut self, sql: Sql) -> StoreResult<u64> {
        let Sql { text, values } = sql;
        let query = sqlx::AssertSqlSafe(text);
        Ok(on_tx!(self, t => bind_values!(sqlx::query(query), values).execute(t).await?.rows_affected()))
    }

    pub async fn rollback(self) -> StoreResult<()> {
        match self.inner {
            Inner::Sqlite(t) => t.rollback().await?,
            Inner::Postgres(t) => t.rollback().await?,
        }
        Ok(())
    }
}
