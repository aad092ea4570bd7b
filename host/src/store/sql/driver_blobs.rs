//! Accepted driver components: their bytes by hash, and which hash serves under each driver name.
//!
//! Invariants: a row in `driver_active` always has its bytes; the table is small, so that another process
//! follows by reading it whole. The plugin folder is an input, this is the truth.

use crate::{
    clock::Micros,
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

/// How many superseded components stay available for a way back.
const KEEP_SUPERSEDED: i64 = 10;

/// Which bytes serve under a driver name.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ActiveDriver {
    pub name: String,
    /// Hexadecimal SHA-256 of the component.
    pub hash: String,
    /// The file's name in the plugin folder it came from.
    pub file: String,
    /// An operator overrode the check against what existing resources use.
    pub forced: bool,
    pub activated_at: Micros,
}

impl Store {
    /// Every driver's active component, by name.
    pub async fn active_drivers(&self) -> StoreResult<Vec<ActiveDriver>> {
        let sql = "SELECT name, hash, file, forced, activated_at FROM driver_active ORDER BY name";
        Ok(on_read!(self, p => sqlx::query_as(sql).fetch_all(p).await?))
    }

    /// The bytes of an accepted component.
    pub async fn driver_blob(&self, hash: &str) -> StoreResult<Option<Vec<u8>>> {
        let sql = "SELECT bytes FROM driver_blobs WHERE hash = $1";
        let row: Option<(Vec<u8>,)> = on_read!(self, p => sqlx::query_as(sql).bind(hash).fetch_optional(p).await?);
        Ok(row.map(|(bytes,)| bytes))
    }

    /// Whether these bytes were accepted before.
    pub async fn driver_blob_known(&self, hash: &str) -> StoreResult<bool> {
        let sql = "SELECT 1 FROM driver_blobs WHERE hash = $1";
        let row: Option<(i32,)> = on_read!(self, p => sqlx::query_as(sql).bind(hash).fetch_optional(p).await?);
        Ok(row.is_some())
    }
}

impl Tx {
    /// Keeps the bytes of an accepted component; a second time is a no-op.
    pub async fn keep_driver_blob(&mut self, hash: &str, bytes: &[u8], now: Micros) -> StoreResult<()> {
        let sql = "INSERT INTO driver_blobs (hash, bytes, accepted_at) VALUES ($1, $2, $3) \
                   ON CONFLICT (hash) DO UPDATE SET accepted_at = excluded.accepted_at";
        on_tx!(self, c => { sqlx::query(sql).bind(hash).bind(bytes).bind(now).execute(c).await?; });
        Ok(())
    }

    /// Makes `hash` the component that serves under `name`.
    pub async fn activate_driver(&mut self, name: &str, hash: &str, file: &str, forced: bool, now: Micros) -> StoreResult<()> {
        let sql = "INSERT INTO driver_active (name, hash, file, forced, activated_at) VALUES ($1, $2, $3, $4, $5) \
                   ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, file = excluded.file, forced = excluded.forced, \
                   activated_at = excluded.activated_at";
        on_tx!(self, c => { sqlx::query(sql).bind(name).bind(hash).bind(file).bind(forced).bind(now).execute(c).await?; });
        Ok(())
    }

    /// Drops superseded components beyond the newest few; the active ones always stay.
    pub async fn prune_driver_blobs(&mut self) -> StoreResult<()> {
        let sql = "DELETE FROM driver_blobs WHERE hash NOT IN (SELECT hash FROM driver_active) AND hash NOT IN (SELECT hash FROM driver_blobs \
                   WHERE hash NOT IN (SELECT hash FROM driver_active) ORDER BY accepted_at DESC, hash LIMIT $1)";
        on_tx!(self, c => { sqlx::query(sql).bind(KEEP_SUPERSEDED).execute(c).await?; });
        Ok(())
    }
}
