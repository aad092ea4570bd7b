//! A database for one test, on either engine, and [`both_databases!`]: one test body over both.

use std::{future::Future, sync::Arc};

use stowage::store::{Durability, Store, StoreOptions};
use tempfile::TempDir;

use crate::postgres;

/// A migrated database of one test. Ends with it.
pub struct Db {
    pub store: Store,
    pub options: StoreOptions,
    place: Arc<Place>,
}

/// Where a database lies; removed when dropped.
pub enum Place {
    Sqlite(TempDir),
    Postgres(postgres::Database),
}

impl Db {
    pub async fn sqlite() -> Self {
        let folder = tempfile::Builder::new().prefix("stowage-test-").tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("stowage.db").display());
        let options = StoreOptions { durability: Durability::Process, ..StoreOptions::new(url) };
        let store = Store::open(&options).await.unwrap();
        store.migrate().await.unwrap();
        Self { store, options, place: Arc::new(Place::Sqlite(folder)) }
    }

    pub async fn postgres() -> Self {
        let database = postgres::database().await;
        let options = StoreOptions { max_connections: 24, ..StoreOptions::new(database.url.clone()) };
        let store = Store::open(&options).await.unwrap();
        Self { store, options, place: Arc::new(Place::Postgres(database)) }
    }

    pub fn is_postgres(&self) -> bool {
        matches!(*self.place, Place::Postgres(_))
    }

    /// What keeps the database: an `async` block that uses some fields of a [`Db`] does not keep the others.
    pub fn place(&self) -> Arc<Place> {
        Arc::clone(&self.place)
    }

    /// The same database as another process would see it: other connections. PostgreSQL only: a SQLite file has one process.
    pub async fn second_store(&self) -> Store {
        Store::open(&self.options).await.unwrap()
    }
}

/// Which databases the environment asks for: `STOWAGE_TEST_DATABASES=sqlite`, `postgres`, or `sqlite,postgres`. What is asked
/// for must be there. Unset: SQLite, and PostgreSQL where it is installed.
pub fn is_wanted(name: &str) -> bool {
    match std::env::var("STOWAGE_TEST_DATABASES") {
        Ok(list) => list.split(',').any(|n| n.trim() == name),
        Err(_) if name == "postgres" && !postgres::is_available() => {
            eprintln!("left out: no PostgreSQL on this machine (postgresql is the package; `STOWAGE_TEST_DATABASES=postgres` demands it)");
            false
        }
        Err(_) => true,
    }
}

/// Runs a test body on SQLite.
pub async fn on_sqlite<F: Future<Output = ()>>(body: impl FnOnce(Db) -> F) {
    if is_wanted("sqlite") {
        let db = Db::sqlite().await;
        let _place = db.place();
        body(db).await;
    }
}

/// Runs a test body on PostgreSQL.
pub async fn on_postgres<F: Future<Output = ()>>(body: impl FnOnce(Db) -> F) {
    if is_wanted("postgres") {
        let db = Db::postgres().await;
        let _place = db.place();
        body(db).await;
    }
}

/// Tests over both databases: each `async fn name(db)` becomes `name::sqlite` and `name::postgres`.
///
/// ```ignore
/// both_databases! {
///     async fn a_deleted_message_is_gone(db) {
///         let mut tx = db.store.begin().await.unwrap();
///         ...
///     }
/// }
/// ```
#[macro_export]
macro_rules! both_databases {
    ($($(#[$meta:meta])* async fn $name:ident($db:ident) $body:block)+) => { $(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "a body may need nothing of its module; `expect` would fail where it does")]
            use super::*;
            async fn body($db: $crate::db::Db) $body
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                $crate::db::on_sqlite(body).await;
            }
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                $crate::db::on_postgres(body).await;
            }
        }
    )+ };
}
