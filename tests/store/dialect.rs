//! The places where the databases differ.

use std::time::Duration;

use stowage::{clock, store::StoreError};
use support::both_databases;

both_databases! {
    async fn the_databases_clock_is_in_microseconds_and_goes_forward(db) {
        let before = db.store.database_now().await.unwrap();
        let ours = clock::now();
        assert!((before - ours).abs() < 60_000_000, "{before} is microseconds since the epoch, as {ours}");
        support::wait::until("the clock to move", || async {
            (db.store.database_now().await.unwrap() > before).then_some(())
        }).await;
    }

    async fn a_locked_key_makes_a_second_transaction_wait_for_the_first(db) {
        let mut first = db.store.begin().await.unwrap();
        first.lock_key("volume-1").await.unwrap();
        let store = db.store.clone();
        let second = tokio::spawn(async move {
            let mut tx = store.begin().await?;
            tx.lock_key("volume-1").await?;
            let seen = tx.settle_setting("who", "second").await?;
            tx.commit().await?;
            Ok::<_, StoreError>(seen)
        });
        first.set_setting("who", "first").await.unwrap();
        first.commit().await.unwrap();
        assert_eq!(second.await.unwrap().unwrap(), "first");
    }

    async fn several_locked_keys_make_whoever_wants_one_of_them_wait(db) {
        let mut first = db.store.begin().await.unwrap();
        first.lock_keys(&["volume-1".to_owned(), "volume-2".to_owned(), "volume-1".to_owned()]).await.unwrap();
        let store = db.store.clone();
        let second = tokio::spawn(async move {
            let mut tx = store.begin().await?;
            tx.lock_key("volume-2").await?;
            let seen = tx.settle_setting("who", "second").await?;
            tx.commit().await?;
            Ok::<_, StoreError>(seen)
        });
        first.set_setting("who", "first").await.unwrap();
        first.commit().await.unwrap();
        assert_eq!(second.await.unwrap().unwrap(), "first");
    }

    async fn hooks_run_after_a_commit_in_order_and_never_after_a_rollback(db) {
        let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
        let mut tx = db.store.begin().await.unwrap();
        for n in [1, 2] {
            let send = send.clone();
            tx.after_commit(move || send.send(n).unwrap());
        }
        assert!(receive.try_recv().is_err());
        tx.commit().await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        tx.after_commit(move || send.send(3).unwrap());
        tx.rollback().await.unwrap();
        assert_eq!((receive.recv().await, receive.recv().await, receive.recv().await), (Some(1), Some(2), None));
    }

    async fn a_dropped_transaction_leaves_nothing(db) {
        let mut tx = db.store.begin().await.unwrap();
        tx.set_setting("a", "1").await.unwrap();
        drop(tx);
        assert_eq!(db.store.setting("a").await.unwrap(), None);
        // and the writer is free again
        let mut tx = db.store.begin().await.unwrap();
        tx.set_setting("a", "2").await.unwrap();
        tokio::time::timeout(Duration::from_secs(20), tx.commit()).await.unwrap().unwrap();
    }

    async fn a_second_row_with_a_key_is_a_typed_duplicate(db) {
        let mut tx = db.store.begin().await.unwrap();
        tx.add_worker("w", "here:1", Duration::from_secs(9)).await.unwrap();
        let error = tx.add_worker("w", "here:1", Duration::from_secs(9)).await.unwrap_err();
        assert!(matches!(error, StoreError::Duplicate { .. }), "{error:?}");
    }
}
