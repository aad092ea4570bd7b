//! What drivers keep: durable keys and values, scoped to a back end.
//!
//! On SQLite this is a file of its own beside the main database (`<file>.drivers`), so that a driver's writes never wait
//! for the control plane's single writer nor hold it up; on PostgreSQL it is three tables. Invariants: a version is never
//! used twice in a back end, also not after a delete, so compare-and-swap has no ABA; the usage row changes in the
//! transaction of the value it counts. A refused write changes nothing.

use crate::store::{Store, StoreResult, Tx, on_read, on_tx};

/// The side file's schema; PostgreSQL has the same tables in its migrations.
const SIDE_SCHEMA: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS driver_kv (backend TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, version BIGINT NOT NULL, \
     PRIMARY KEY (backend, key))",
    "CREATE TABLE IF NOT EXISTS driver_kv_usage (backend TEXT NOT NULL PRIMARY KEY, bytes BIGINT NOT NULL, seq BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS driver_locks (backend TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL, expires_at BIGINT NOT NULL, \
     PRIMARY KEY (backend, name))",
];

/// Sorts after every key with the same beginning: keys are printable ASCII.
const AFTER_ANY_KEY: char = '\u{7f}';

/// A stored value and the version it was written with.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct KvEntry {
    pub value: Vec<u8>,
    pub version: i64,
}

/// What a writer believes is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Write whatever is there.
    Anything,
    /// Only when the key does not exist.
    Absent,
    /// Only over this version.
    Version(i64),
}

/// How a write ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KvWrite {
    /// Written, with this version.
    Written(i64),
    /// Something else is stored; none when the key is absent.
    Differs(Option<KvEntry>),
    /// The back end would hold more than its grant.
    Full { used: i64, limit: i64 },
}

/// How a delete ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KvDelete {
    Deleted,
    /// Nothing was there, or not the version expected.
    Nothing,
}

/// A key with what it holds.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct KvItem {
    pub key: String,
    pub value: Vec<u8>,
    pub version: i64,
}

/// The drivers' own database.
#[derive(Debug, Clone)]
pub struct DriverDb {
    store: Store,
}

impl Store {
    /// Opens what drivers keep: the side file on SQLite, the same database on PostgreSQL.
    pub async fn driver_db(&self) -> StoreResult<DriverDb> {
        let store = self.open_beside("drivers").await?;
        if store.is_sqlite() {
            let mut tx = store.begin().await?;
            for statement in SIDE_SCHEMA {
                on_tx!(tx, c => { sqlx::query(*statement).execute(c).await?; });
            }
            // the main file's exclusive lock says that no other process is alive: whoever held a lock is gone
            on_tx!(tx, c => { sqlx::query("DELETE FROM driver_locks").execute(c).await?; });
            tx.commit().await?;
        }
        Ok(DriverDb { store })
    }
}

impl DriverDb {
    pub(in crate::store) fn store(&self) -> &Store {
        &self.store
    }

    /// Closes the side file; on PostgreSQL the pool is the main store's and stays open.
    pub async fn close(&self) {
        if self.store.is_sqlite() {
            self.store.close().await;
        }
    }

    /// The value of a key.
    pub async fn kv_get(&self, backend: &str, key: &str) -> StoreResult<Option<KvEntry>> {
        let sql = "SELECT value, version FROM driver_kv WHERE backend = $1 AND key = $2";
        Ok(on_read!(self.store, p => sqlx::query_as(sql).bind(backend).bind(key).fetch_optional(p).await?))
    }

    /// What begins with `prefix` and sorts after `after`, in the order of the keys' bytes, at most `limit`.
    pub async fn kv_scan(&self, backend: &str, prefix: &str, after: &str, limit: i64) -> StoreResult<Vec<KvItem>> {
        let sql =
            "SELECT key, value, version FROM driver_kv WHERE backend = $1 AND key >= $2 AND key < $3 AND key > $4 ORDER BY key LIMIT $5";
        let end = format!("{prefix}{AFTER_ANY_KEY}");
        Ok(on_read!(self.store, p => sqlx::query_as(sql).bind(backend).bind(prefix).bind(end).bind(after).bind(limit).fetch_all(p).await?))
    }

    /// Bytes of keys and values that a back end holds.
    pub async fn kv_used(&self, backend: &str) -> StoreResult<i64> {
        let sql = "SELECT bytes FROM driver_kv_usage WHERE backend = $1";
        let row: Option<(i64,)> = on_read!(self.store, p => sqlx::query_as(sql).bind(backend).fetch_optional(p).await?);
        Ok(row.map_or(0, |(bytes,)| bytes))
    }

    /// Writes a value if `expect` holds and the back end stays within `limit` bytes.
    pub async fn kv_put(&self, backend: &str, key: &str, value: &[u8], expect: Expect, limit: i64) -> StoreResult<KvWrite> {
        let mut tx = self.store.begin().await?;
        let (seq, used) = tx.kv_next(backend).await?;
        let found = tx.kv_found(backend, key).await?;
        if !expect.holds(found.as_ref().map(|e| e.version)) {
            return Ok(KvWrite::Differs(found));
        }
        let (old, new) = (found.map_or(0, |e| bytes_of(key, &e.value)), bytes_of(key, value));
        // what makes room is never refused, also under a limit that was lowered meanwhile
        if new > old && used - old + new > limit {
            return Ok(KvWrite::Full { used, limit });
        }
        let sql = "INSERT INTO driver_kv (backend, key, value, version) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (backend, key) DO UPDATE SET value = excluded.value, version = excluded.version";
        on_tx!(tx, c => { sqlx::query(sql).bind(backend).bind(key).bind(value).bind(seq).execute(c).await?; });
        tx.kv_used_by(backend, new - old).await?;
        tx.commit().await?;
        Ok(KvWrite::Written(seq))
    }

    /// Deletes a key if `expect` holds.
    pub async fn kv_delete(&self, backend: &str, key: &str, expect: Expect) -> StoreResult<KvDelete> {
        let mut tx = self.store.begin().await?;
        tx.kv_next(backend).await?;
        let Some(found) = tx.kv_found(backend, key).await? else { return Ok(KvDelete::Nothing) };
        if !expect.holds(Some(found.version)) {
            return Ok(KvDelete::Nothing);
        }
        let sql = "DELETE FROM driver_kv WHERE backend = $1 AND key = $2";
        on_tx!(tx, c => { sqlx::query(sql).bind(backend).bind(key).execute(c).await?; });
        tx.kv_used_by(backend, -bytes_of(key, &found.value)).await?;
        tx.commit().await?;
        Ok(KvDelete::Deleted)
    }

    /// Forgets everything a back end kept: it was removed for good.
    pub async fn kv_forget(&self, backend: &str) -> StoreResult<()> {
        let mut tx = self.store.begin().await?;
        for sql in [
            "DELETE FROM driver_kv WHERE backend = $1",
            "DELETE FROM driver_kv_usage WHERE backend = $1",
            "DELETE FROM driver_locks WHERE backend = $1",
        ] {
            on_tx!(tx, c => { sqlx::query(sql).bind(backend).execute(c).await?; });
        }
        tx.commit().await
    }
}

impl Tx {
    /// Takes the back end's next version; its row lock puts the back end's writers in order. Returns (version, bytes used).
    async fn kv_next(&mut self, backend: &str) -> StoreResult<(i64, i64)> {
        let sql = "INSERT INTO driver_kv_usage (backend, bytes, seq) VALUES ($1, 0, 1) \
                   ON CONFLICT (backend) DO UPDATE SET seq = driver_kv_usage.seq + 1 RETURNING seq, bytes";
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(backend).fetch_one(c).await?))
    }

    async fn kv_found(&mut self, backend: &str, key: &str) -> StoreResult<Option<KvEntry>> {
        let sql = "SELECT value, version FROM driver_kv WHERE backend = $1 AND key = $2";
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(backend).bind(key).fetch_optional(c).await?))
    }

    async fn kv_used_by(&mut self, backend: &str, delta: i64) -> StoreResult<()> {
        let sql = "UPDATE driver_kv_usage SET bytes = bytes + $2 WHERE backend = $1";
        on_tx!(self, c => { sqlx::query(sql).bind(backend).bind(delta).execute(c).await?; });
        Ok(())
    }
}

impl Expect {
    fn holds(self, found: Option<i64>) -> bool {
        match self {
            Self::Anything => true,
            Self::Absent => found.is_none(),
            Self::Version(v) => found == Some(v),
        }
    }
}

fn bytes_of(key: &str, value: &[u8]) -> i64 {
    i64::try_from(key.len() + value.len()).unwrap_or(i64::MAX)
}
