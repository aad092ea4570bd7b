//! Opening and migrating.

use stowage::store::{Store, StoreError, StoreOptions};
use support::{both_databases, db::Db, postgres};

both_databases! {
    async fn a_migrated_database_is_accepted_and_migrating_again_changes_nothing(db) {
        db.store.check_schema().await.unwrap();
        db.store.migrate().await.unwrap();
        assert_eq!(db.store.schema_found().await.unwrap(), db.store.schema_needed());
    }
}

async fn refuses_until_migrated(url: String) {
    let store = Store::open(&StoreOptions::new(url)).await.unwrap();
    assert_eq!(store.schema_found().await.unwrap(), 0);
    let refusal = store.check_schema().await.unwrap_err();
    assert!(matches!(refusal, StoreError::SchemaOld { found: 0, .. }), "{refusal:?}");
    assert!(refusal.to_string().contains("stowage migrate"), "{refusal}");
    store.migrate().await.unwrap();
    store.check_schema().await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn an_empty_sqlite_file_is_refused_with_the_remedy_and_then_migrated() {
    let folder = tempfile::tempdir().unwrap();
    refuses_until_migrated(format!("sqlite:{}", folder.path().join("a.db").display())).await;
}

#[tokio::test]
async fn an_empty_postgres_database_is_refused_with_the_remedy_and_then_migrated() {
    if !support::db::is_wanted("postgres") {
        return;
    }
    let database = postgres::empty_database().await;
    refuses_until_migrated(database.url.clone()).await;
}

#[tokio::test]
async fn two_processes_may_migrate_an_empty_postgres_database_at_once() {
    if !support::db::is_wanted("postgres") {
        return;
    }
    let database = postgres::empty_database().await;
    let migrate = || async {
        let store = Store::open(&StoreOptions::new(database.url.clone())).await.unwrap();
        let verdict = store.migrate().await;
        store.close().await;
        verdict
    };
    let (a, b) = tokio::join!(migrate(), migrate());
    a.unwrap();
    b.unwrap();
}

#[tokio::test]
async fn a_sqlite_file_serves_one_process() {
    let db = Db::sqlite().await;
    let refusal = Store::open(&db.options).await.unwrap_err();
    assert!(matches!(&refusal, StoreError::Locked { path } if path.ends_with("stowage.db")), "{refusal:?}");
}
