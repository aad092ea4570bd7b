//! The schema: one folder of migrations a database, same numbers and names, expand before contract.

use sqlx::migrate::Migrator;

use super::{
    StoreError, StoreResult, on_read,
    open::{Db, Store},
};

static SQLITE: Migrator = sqlx::migrate!("../migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("../migrations/postgres");

impl Store {
    fn migrator(&self) -> &'static Migrator {
        if self.is_sqlite() { &SQLITE } else { &POSTGRES }
    }

    /// The newest version this binary knows.
    pub fn schema_needed(&self) -> i64 {
        self.migrator().iter().map(|m| m.version).max().unwrap_or(0)
    }

    /// The newest version applied to the database, 0 for an empty one.
    pub async fn schema_found(&self) -> StoreResult<i64> {
        let sql = "SELECT MAX(version) FROM _sqlx_migrations WHERE success";
        let found: Result<(Option<i64>,), sqlx::Error> = on_read!(self, p => sqlx::query_as(sql).fetch_one(p).await);
        match found {
            Ok((v,)) => Ok(v.unwrap_or(0)),
            Err(e) if e.as_database_error().is_some() => Ok(0), // no such table: nothing was ever applied
            Err(e) => Err(e.into()),
        }
    }

    /// Refuses a schema that is older or newer than this binary.
    pub async fn check_schema(&self) -> StoreResult<()> {
        let (found, needed) = (self.schema_found().await?, self.schema_needed());
        match found.cmp(&needed) {
            std::cmp::Ordering::Less => Err(StoreError::SchemaOld { found, needed }),
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => Err(StoreError::SchemaNew { found, needed }),
        }
    }

    /// Brings the schema up to this binary's version. Safe to run twice and from two processes (sqlx holds an advisory lock).
    pub async fn migrate(&self) -> StoreResult<()> {
        let migrator = self.migrator();
        match self.db() {
            Db::Sqlite { write, .. } => migrator.run(write).await,
            Db::Postgres(pool) => migrator.run(pool).await,
        }
        .map_err(StoreError::Migrate)
    }
}
