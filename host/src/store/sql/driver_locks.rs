//! Leases that drivers take by name, scoped to a back end and seen by every process.
//!
//! A lease ends by release or by the database's clock, whichever comes first, so a dead process holds nothing for long.
//! Taking a lease that one holds already renews it.

use super::driver_kv::DriverDb;
use crate::store::{StoreResult, dialect, on_read, on_tx};

impl DriverDb {
    /// Takes or renews a lease for `micros` from now; false when another owner holds it.
    pub async fn lock_acquire(&self, backend: &str, name: &str, owner: &str, micros: i64) -> StoreResult<bool> {
        let now = dialect::now_expr(self.store());
        let sql = format!(
            "INSERT INTO driver_locks (backend, name, owner, expires_at) VALUES ($1, $2, $3, {now} + $4) \
             ON CONFLICT (backend, name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at \
             WHERE driver_locks.owner = excluded.owner OR driver_locks.expires_at <= {now}"
        );
        let mut tx = self.store().begin().await?;
        let rows = on_tx!(tx, c => sqlx::query(sqlx::AssertSqlSafe(sql)).bind(backend).bind(name).bind(owner).bind(micros).execute(c).await?.rows_affected());
        tx.commit().await?;
        Ok(rows == 1)
    }

    /// Whether `owner` holds the lease now.
    pub async fn lock_held(&self, backend: &str, name: &str, owner: &str) -> StoreResult<bool> {
        let now = dialect::now_expr(self.store());
        let sql = format!("SELECT 1 FROM driver_locks WHERE backend = $1 AND name = $2 AND owner = $3 AND expires_at > {now}");
        let row: Option<(i32,)> = on_read!(self.store(), p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(backend).bind(name).bind(owner).fetch_optional(p).await?);
        Ok(row.is_some())
    }

    /// Gives one lease back; giving back what one does not hold is a no-op.
    pub async fn lock_release(&self, backend: &str, name: &str, owner: &str) -> StoreResult<()> {
        let sql = "DELETE FROM driver_locks WHERE backend = $1 AND name = $2 AND owner = $3";
        let mut tx = self.store().begin().await?;
        on_tx!(tx, c => { sqlx::query(sql).bind(backend).bind(name).bind(owner).execute(c).await?; });
        tx.commit().await
    }

    /// Gives back everything an owner holds: its call has ended.
    pub async fn lock_release_all(&self, backend: &str, owner: &str) -> StoreResult<()> {
        let sql = "DELETE FROM driver_locks WHERE backend = $1 AND owner = $2";
        let mut tx = self.store().begin().await?;
        on_tx!(tx, c => { sqlx::query(sql).bind(backend).bind(owner).execute(c).await?; });
        tx.commit().await
    }
}
