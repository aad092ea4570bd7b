//! Worker processes and their leases, by the database's clock.
//!
//! A worker owns its jobs as long as its row is there and `lease_until` lies ahead. Nothing here looks at a process's own
//! clock, so skew between machines does not matter. On SQLite the file's lock is the lease: there is one process, its row
//! never lapses, and the next process finds only dead ones.

use std::time::Duration;

use crate::{
    clock::{Micros, micros},
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

/// A worker process as its row tells.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct WorkerRow {
    pub id: String,
    pub label: String,
    pub started_at: Micros,
    pub heartbeat_at: Micros,
    pub lease_until: Micros,
    /// By the database's clock, as it was read.
    pub alive: bool,
}

const NOW: &str = "SELECT {now}";

impl Store {
    /// The database's clock.
    pub async fn database_now(&self) -> StoreResult<Micros> {
        let sql = self.dialect().sql(NOW);
        let (now,): (Micros,) = on_read!(self, p => sqlx::query_as(sql).fetch_one(p).await?);
        Ok(now)
    }

    /// Every registered worker, oldest first.
    pub async fn workers(&self) -> StoreResult<Vec<WorkerRow>> {
        let sql = self.dialect().sql(
            "SELECT id, label, started_at, heartbeat_at, lease_until, lease_until > {now} AS alive FROM workers ORDER BY started_at, id",
        );
        Ok(on_read!(self, p => sqlx::query_as(sql).fetch_all(p).await?))
    }
}

impl Tx {
    /// The database's clock.
    pub async fn database_now(&mut self) -> StoreResult<Micros> {
        let sql = self.dialect().sql(NOW);
        let (now,): (Micros,) = on_tx!(self, c => sqlx::query_as(sql).fetch_one(c).await?);
        Ok(now)
    }

    /// Registers a worker; its lease begins now.
    pub async fn add_worker(&mut self, id: &str, label: &str, lease: Duration) -> StoreResult<()> {
        let sql = self.dialect().sql("INSERT INTO workers (id, label, started_at, heartbeat_at, lease_until) SELECT $1, $2, n.at, n.at, n.at + $3 FROM (SELECT {now} AS at) n");
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(label).bind(micros(lease)).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Prolongs a lease that has not lapsed. False: it has, and the worker owns nothing any more.
    pub async fn renew_worker(&mut self, id: &str, lease: Duration) -> StoreResult<bool> {
        let sql =
            self.dialect().sql("UPDATE workers SET heartbeat_at = {now}, lease_until = {now} + $2 WHERE id = $1 AND lease_until > {now}");
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(micros(lease)).execute(c).await?.rows_affected()) == 1)
    }

    /// Removes a worker that ends in good order. Its jobs go back first ([`Tx::hand_back`]).
    pub async fn remove_worker(&mut self, id: &str) -> StoreResult<()> {
        on_tx!(self, c => sqlx::query("DELETE FROM workers WHERE id = $1").bind(id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Removes the rows of workers whose lease has lapsed; how many.
    pub async fn remove_dead_workers(&mut self) -> StoreResult<u64> {
        let sql = self.dialect().sql("DELETE FROM workers WHERE lease_until <= {now}");
        Ok(on_tx!(self, c => sqlx::query(sql).execute(c).await?.rows_affected()))
    }

    /// SQLite at start: this process holds the file's lock, so every other worker is dead. How many there were.
    pub async fn remove_all_workers(&mut self) -> StoreResult<u64> {
        Ok(on_tx!(self, c => sqlx::query("DELETE FROM workers").execute(c).await?.rows_affected()))
    }

    /// Makes `worker` the one that carries out `duty` for `lease`, unless a living other one does. True when it is.
    pub async fn take_duty(&mut self, duty: &str, worker: &str, lease: Duration) -> StoreResult<bool> {
        let sql = self.dialect().sql(
            "INSERT INTO duties (name, worker, lease_until) SELECT $1, $2, {now} + $3 WHERE TRUE \
             ON CONFLICT (name) DO UPDATE SET worker = excluded.worker, lease_until = excluded.lease_until \
             WHERE duties.worker = excluded.worker OR duties.lease_until <= {now} OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = duties.worker)",
        );
        Ok(on_tx!(self, c => sqlx::query(sql).bind(duty).bind(worker).bind(micros(lease)).execute(c).await?.rows_affected()) == 1)
    }
}
