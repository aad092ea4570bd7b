//! Opening a database.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use sqlx::{
    ConnectOptions, Connection, PgPool, SqlitePool,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{StoreError, StoreResult};
use crate::quota::QuotaDefaults;

/// What a committed transaction survives (SQLite only).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// A power cut: `synchronous = FULL`.
    #[default]
    Full,
    /// A crash of the process, not of the machine: `synchronous = NORMAL`.
    Process,
}

/// How to open the store.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// `sqlite:/path/file.db`, a plain path, or `postgres://...` (unix socket: `?host=/dir`).
    pub url: String,
    pub durability: Durability,
    /// Most connections to hold: readers on SQLite, all on PostgreSQL.
    pub max_connections: u32,
    /// How long to wait for a connection or a lock.
    pub acquire_timeout: Duration,
}

impl StoreOptions {
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), durability: Durability::Full, max_connections: 16, acquire_timeout: Duration::from_secs(10) }
    }
}

/// The open database.
#[derive(Debug, Clone)]
pub enum Db {
    Sqlite { write: SqlitePool, read: SqlitePool },
    Postgres(PgPool),
}

/// The store. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    db: Db,
    /// The exclusive lock on the SQLite file's side file; released when the last clone is dropped.
    _lock: Option<Arc<std::fs::File>>,
    /// Limits of the configuration, which the statements that change usage compare with.
    quota_defaults: QuotaDefaults,
}

impl Store {
    pub fn quota_defaults(&self) -> &QuotaDefaults {
        &self.quota_defaults
    }
    pub(in crate::store) fn db(&self) -> &Db {
        &self.db
    }
    pub fn is_sqlite(&self) -> bool {
        matches!(self.db, Db::Sqlite { .. })
    }

    /// Opens without migrating; `migrate.rs` checks or changes the schema.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process serves the same SQLite file; [`StoreError::BadUrl`].
    pub async fn open(options: &StoreOptions) -> StoreResult<Self> {
        if is_postgres(&options.url) {
            return Self::open_postgres(options).await;
        }
        Self::open_sqlite(sqlite_path(&options.url), options).await
    }

    /// [`StoreError::Locked`] when another process has the SQLite file that `url` names. Opens and makes nothing.
    pub fn held(url: &str) -> Option<StoreError> {
        if is_postgres(url) {
            return None;
        }
        let path = sqlite_path(url);
        let lock = std::fs::OpenOptions::new().write(true).open(lock_path(path)).ok()?;
        let free = rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockShared).is_ok();
        (!free).then(|| StoreError::Locked { path: path.display().to_string() })
    }

    async fn open_postgres(options: &StoreOptions) -> StoreResult<Self> {
        let connect = PgConnectOptions::from_str(&options.url).map_err(|e| StoreError::BadUrl(e.to_string()))?.application_name("stowage");
        let pool = PgPoolOptions::new()
            .max_connections(options.max_connections)
            .acquire_timeout(options.acquire_timeout)
            .connect_with(connect.clone())
            .await;
        let pool = match pool {
            Ok(pool) => pool,
            // the pool takes a refused connection for a database that is starting, and in the end says only that time is up
            Err(e @ sqlx::Error::PoolTimedOut) => return Err(reach(&connect).await.err().unwrap_or(StoreError::Busy(e))),
            Err(e) => return Err(no_connection(&connect, e)),
        };
        Ok(Self { db: Db::Postgres(pool), _lock: None, quota_defaults: QuotaDefaults::default() })
    }

    /// Tries a connection of its own, beside the pool: to tell a database that is gone from one that is busy.
    ///
    /// # Errors
    /// [`StoreError::NoConnection`], which says where and why. Never on SQLite.
    pub async fn reach(&self) -> StoreResult<()> {
        match &self.db {
            Db::Sqlite { .. } => Ok(()),
            Db::Postgres(pool) => reach(&pool.connect_options()).await,
        }
    }

    async fn open_sqlite(path: &Path, options: &StoreOptions) -> StoreResult<Self> {
        let lock = lock_file(path)?;
        let synchronous = match options.durability {
            Durability::Full => SqliteSynchronous::Full,
            Durability::Process => SqliteSynchronous::Normal,
        };
        let connect = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(synchronous)
            .foreign_keys(true)
            .busy_timeout(options.acquire_timeout)
            .pragma("temp_store", "MEMORY")
            .statement_cache_capacity(512);
        // one writer: SQLite has one anyway, and a queue in front of it is fairer than SQLITE_BUSY
        let write =
            SqlitePoolOptions::new().max_connections(1).acquire_timeout(options.acquire_timeout).connect_with(connect.clone()).await?;
        let read = SqlitePoolOptions::new()
            .max_connections(options.max_connections)
            .acquire_timeout(options.acquire_timeout)
            .connect_with(connect.pragma("query_only", "ON"))
            .await?;
        Ok(Self { db: Db::Sqlite { write, read }, _lock: Some(Arc::new(lock)), quota_defaults: QuotaDefaults::default() })
    }

    /// A database of its own beside this one: on SQLite the file `<file>.<suffix>` with the same durability, created when
    /// absent and guarded by this store's lock; on PostgreSQL the same database, since its writers do not queue.
    pub(in crate::store) async fn open_beside(&self, suffix: &str) -> StoreResult<Self> {
        let Db::Sqlite { write, read } = &self.db else { return Ok(self.clone()) };
        let open = |pool: &SqlitePool| {
            let options = (*pool.connect_options()).clone();
            let path = format!("{}.{suffix}", options.get_filename().display());
            SqlitePoolOptions::new()
                .max_connections(pool.options().get_max_connections())
                .acquire_timeout(pool.options().get_acquire_timeout())
                .connect_with(options.filename(path))
        };
        let db = Db::Sqlite { write: open(write).await?, read: open(read).await? };
        Ok(Self { db, _lock: self._lock.clone(), quota_defaults: self.quota_defaults.clone() })
    }

    /// Closes every connection; open transactions end first.
    pub async fn close(&self) {
        match &self.db {
            Db::Sqlite { write, read } => {
                read.close().await;
                write.close().await;
            }
            Db::Postgres(pool) => pool.close().await,
        }
    }
}

/// How long one try to reach PostgreSQL may take.
const REACH: Duration = Duration::from_secs(3);

async fn reach(options: &PgConnectOptions) -> StoreResult<()> {
    let timed_out = || sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
    match tokio::time::timeout(REACH, options.connect()).await.unwrap_or_else(|_| Err(timed_out())) {
        // how it ends says nothing
        Ok(connection) => {
            drop(connection.close().await);
            Ok(())
        }
        Err(e) => Err(no_connection(options, e)),
    }
}

fn no_connection(options: &PgConnectOptions, source: sqlx::Error) -> StoreError {
    let address = options.get_socket().map_or_else(
        || {
            if options.get_host().starts_with('/') {
                options.get_host().to_owned()
            } else {
                format!("{}:{}", options.get_host(), options.get_port())
            }
        },
        |socket| socket.display().to_string(),
    );
    let check = match &source {
        sqlx::Error::Database(_) => "check the user, the password and the database's name in database.url, and PostgreSQL's pg_hba.conf",
        sqlx::Error::Tls(_) => "check sslmode and sslrootcert in database.url",
        _ => "check that it runs there, listens on that address (listen_addresses), and that no firewall is between",
    };
    StoreError::NoConnection { address, check, source }
}

fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

fn sqlite_path(url: &str) -> &Path {
    Path::new(url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).unwrap_or(url))
}

fn lock_path(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.lock", path.display()))
}

/// A lock of our own beside the file: SQLite's locks would let two processes in.
fn lock_file(path: &Path) -> StoreResult<std::fs::File> {
    let lock_path = lock_path(path);
    let io = |source| StoreError::Io { context: format!("cannot open {}", lock_path.display()), source };
    let file = std::fs::OpenOptions::new().create(true).write(true).truncate(false).open(&lock_path).map_err(io)?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| StoreError::Locked { path: path.display().to_string() })?;
    Ok(file)
}
