//! What can go wrong in the store, told apart by who can act.

use thiserror::Error;

/// The result of a store call.
pub type StoreResult<T> = Result<T, StoreError>;

#[derive(Debug, Error)]
pub enum StoreError {
    /// The database did not give a connection or a lock in time.
    #[error("the database is busy: {0}")]
    Busy(#[source] sqlx::Error),
    /// PostgreSQL is not there, or does not let us in.
    #[error("PostgreSQL at {address} gives no connection: {source}; {check}")]
    NoConnection {
        /// Host and port, or the socket's folder; never the URL, which may hold a password.
        address: String,
        /// What an operator looks at next.
        check: &'static str,
        #[source]
        source: sqlx::Error,
    },
    /// A uniqueness rule refused the row. The callers that expect it turn it into their own conflict.
    #[error("a row with this key exists: {constraint}")]
    Duplicate { constraint: String },
    /// A row the statement refers to is not there.
    #[error("a referenced row is missing: {constraint}")]
    Missing { constraint: String },
    /// The job that wanted to write no longer owns its resource; nothing was written.
    #[error("job {job} generation {generation} was fenced off")]
    Fenced { job: String, generation: i64 },
    /// Another `stowage serve` holds the SQLite file.
    #[error(
        "{path} is in use by another stowage process: a SQLite database has one at a time; stop that one, or give this one a state_dir of its own"
    )]
    Locked { path: String },
    /// The schema is older than this binary.
    #[error("the database schema is at version {found}, this binary needs {needed}: run `stowage migrate`")]
    SchemaOld { found: i64, needed: i64 },
    /// The schema is newer than this binary.
    #[error("the database schema is at version {found}, newer than this binary's {needed}: start the newer stowage")]
    SchemaNew { found: i64, needed: i64 },
    #[error("the database URL or path is not usable: {0}")]
    BadUrl(String),
    #[error("a stored value could not be read: {0}")]
    Corrupt(String),
    #[error("database error: {0}")]
    Sql(#[source] sqlx::Error),
    #[error("migration failed: {0}")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    #[error("{context}: {source}")]
    Io {
        context: String,
        #[source]
        source: std::io::Error,
    },
}

impl From<sqlx::Error> for StoreError {
    fn from(e: sqlx::Error) -> Self {
        if matches!(e, sqlx::Error::PoolTimedOut) {
            return Self::Busy(e);
        }
        let Some(db) = e.as_database_error() else { return Self::Sql(e) };
        if db.is_unique_violation() {
            return Self::Duplicate { constraint: db.constraint().unwrap_or_else(|| db.message()).to_owned() };
        }
        if db.is_foreign_key_violation() {
            return Self::Missing { constraint: db.constraint().unwrap_or_else(|| db.message()).to_owned() };
        }
        // SQLITE_BUSY; PostgreSQL: serialization failure, deadlock, lock not available
        if matches!(db.code().as_deref(), Some("5" | "261" | "517" | "40001" | "40P01" | "55P03")) {
            return Self::Busy(e);
        }
        Self::Sql(e)
    }
}
