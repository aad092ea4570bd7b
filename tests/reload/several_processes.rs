//! Processes over one database run the same bytes.

use std::sync::Arc;

use serde_json::json;
use support::db::Db;

use crate::bench::{Bench, backend, exercise, memory, memory_version, sha256};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_follows_what_another_accepted() {
    support::db::on_postgres(|db| async {
        let db = Arc::new(db);
        let backends = [backend("one", "memory", json!({}))];
        let first = Bench::over(db.clone(), &[("memory", memory())], &backends).await;
        let second = Bench::over(db, &[], &backends).await;
        assert_eq!(second.serving("one"), sha256(&memory()), "it needs no file of its own");
        first.offer("memory", memory_version(1)).await;
        assert_eq!(second.catalog.follow().await.unwrap(), ["memory"]);
        assert_eq!(second.serving("one"), sha256(&memory_version(1)));
        exercise(&second.catalog, "one", "v").await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_file_in_one_folder_does_not_undo_what_was_accepted_since() {
    let db = Arc::new(Db::sqlite().await);
    let backends = [backend("one", "memory", json!({}))];
    let first = Bench::over(db.clone(), &[("memory", memory())], &backends).await;
    let folder = first.folder.clone();
    first.offer("memory", memory_version(1)).await;
    // the folder still has the file from before the new bytes were accepted
    assert_eq!(sha256(&std::fs::read(folder.join("memory.wasm")).unwrap()), sha256(&memory()));
    let again = Bench::over_folder(db, folder, &backends).await;
    assert_eq!(again.serving("one"), sha256(&memory_version(1)));
    drop(first);
}
