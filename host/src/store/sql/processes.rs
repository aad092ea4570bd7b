//! Serving processes, by the database's clock, and the log levels set in them.
//!
//! Unlike [`super::workers`], whose lease guards jobs, a row here is only how a process is reached: late news of its end harms
//! nobody. On SQLite there is one process, whose row never lapses.

use std::time::Duration;

use crate::{
    clock::micros,
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

/// A process as its row tells.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ProcessRow {
    pub id: String,
    /// Machine and process id.
    pub label: String,
    /// The services whose work it does, space separated.
    pub binaries: String,
    /// What its log follows.
    pub log_directives: String,
}

/// A level set over the configuration: the prefix and the level's word.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct LevelRow {
    pub prefix: String,
    pub level: String,
}

impl Store {
    /// The processes that live, oldest first.
    pub async fn processes(&self) -> StoreResult<Vec<ProcessRow>> {
        let sql = self
            .dialect()
            .sql("SELECT id, label, binaries, log_directives FROM processes WHERE seen_until > {now} ORDER BY started_at, id");
        Ok(on_read!(self, p => sqlx::query_as(sql).fetch_all(p).await?))
    }

    /// Whether the process still has its row.
    pub async fn has_process(&self, id: &str) -> StoreResult<bool> {
        let row: Option<(i64,)> =
            on_read!(self, p => sqlx::query_as("SELECT CAST(1 AS BIGINT) FROM processes WHERE id = $1").bind(id).fetch_optional(p).await?);
        Ok(row.is_some())
    }

    /// The levels set in a process.
    pub async fn process_log_levels(&self, id: &str) -> StoreResult<Vec<LevelRow>> {
        let sql = "SELECT prefix, level FROM process_log_levels WHERE process = $1 ORDER BY prefix";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_all(p).await?))
    }
}

impl Tx {
    /// Registers a process, who is heard of again within `seen_for`.
    pub async fn add_process(&mut self, process: &ProcessRow, seen_for: Duration) -> StoreResult<()> {
        let sql = self.dialect().sql(
            "INSERT INTO processes (id, label, binaries, log_directives, started_at, seen_until) \
             SELECT $1, $2, $3, $4, n.at, n.at + $5 FROM (SELECT {now} AS at) n",
        );
        on_tx!(self, c => sqlx::query(sql).bind(&process.id).bind(&process.label).bind(&process.binaries).bind(&process.log_directives).bind(micros(seen_for)).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The process lives, and logs by these directives. False: its row is gone.
    pub async fn process_lives(&mut self, id: &str, log_directives: &str, seen_for: Duration) -> StoreResult<bool> {
        let sql = self.dialect().sql("UPDATE processes SET log_directives = $2, seen_until = {now} + $3 WHERE id = $1");
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(log_directives).bind(micros(seen_for)).execute(c).await?.rows_affected()) == 1)
    }

    /// Forgets a process and the levels set in it.
    pub async fn remove_process(&mut self, id: &str) -> StoreResult<()> {
        self.forget_log_levels(id).await?;
        on_tx!(self, c => sqlx::query("DELETE FROM processes WHERE id = $1").bind(id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Forgets the processes that were not heard of in time; `all`: every one.
    pub async fn remove_ended_processes(&mut self, all: bool) -> StoreResult<()> {
        let sql = self.dialect().sql("DELETE FROM processes WHERE $1 OR seen_until <= {now}");
        on_tx!(self, c => sqlx::query(sql).bind(all).execute(c).await?.rows_affected());
        let sql = "DELETE FROM process_log_levels WHERE process NOT IN (SELECT id FROM processes)";
        on_tx!(self, c => sqlx::query(sql).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Sets the level of everything that begins with `prefix`, whatever was set for parts of it.
    pub async fn set_log_level(&mut self, process: &str, prefix: &str, level: &str) -> StoreResult<()> {
        let sql = "DELETE FROM process_log_levels WHERE process = $1 AND SUBSTR(prefix, 1, LENGTH($2)) = $2";
        on_tx!(self, c => sqlx::query(sql).bind(process).bind(prefix).execute(c).await?.rows_affected());
        let sql = "INSERT INTO process_log_levels (process, prefix, level) VALUES ($1, $2, $3) \
                   ON CONFLICT (process, prefix) DO UPDATE SET level = excluded.level";
        on_tx!(self, c => sqlx::query(sql).bind(process).bind(prefix).bind(level).execute(c).await?.rows_affected());
        Ok(())
    }

    /// What was set in a process counts no more.
    pub async fn forget_log_levels(&mut self, process: &str) -> StoreResult<()> {
        on_tx!(self, c => sqlx::query("DELETE FROM process_log_levels WHERE process = $1").bind(process).execute(c).await?.rows_affected());
        Ok(())
    }
}
