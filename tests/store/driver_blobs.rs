//! Accepted drivers: bytes by hash, and which serve under a name.

use support::both_databases;

both_databases! {
    async fn the_active_driver_of_a_name_has_its_bytes(db) {
        let mut tx = db.store.begin().await.unwrap();
        tx.keep_driver_blob("h1", b"one", 1).await.unwrap();
        tx.activate_driver("d", "h1", "d.wasm", false, 1).await.unwrap();
        tx.keep_driver_blob("h2", b"two", 2).await.unwrap();
        tx.activate_driver("d", "h2", "d.wasm", true, 2).await.unwrap();
        tx.commit().await.unwrap();
        let active = db.store.active_drivers().await.unwrap();
        assert_eq!(active.len(), 1);
        assert_eq!((active[0].hash.as_str(), active[0].forced, active[0].activated_at), ("h2", true, 2));
        assert_eq!(db.store.driver_blob("h2").await.unwrap().unwrap(), b"two");
        assert!(db.store.driver_blob_known("h1").await.unwrap(), "the way back is kept");
        assert!(!db.store.driver_blob_known("h3").await.unwrap());
    }

    async fn a_name_never_points_to_bytes_that_are_not_there(db) {
        let mut tx = db.store.begin().await.unwrap();
        let dangling = async { tx.activate_driver("d", "nowhere", "d.wasm", false, 1).await?; tx.commit().await }.await;
        assert!(dangling.is_err());
        assert!(db.store.active_drivers().await.unwrap().is_empty());
    }

    async fn only_the_newest_superseded_bytes_are_kept(db) {
        let mut tx = db.store.begin().await.unwrap();
        for n in 0..20 {
            let hash = format!("h{n:02}");
            tx.keep_driver_blob(&hash, b"x", n).await.unwrap();
            if n == 0 {
                tx.activate_driver("old but active", &hash, "d.wasm", false, n).await.unwrap();
            }
        }
        tx.prune_driver_blobs().await.unwrap();
        tx.commit().await.unwrap();
        let mut kept = Vec::new();
        for n in 0..20 {
            if db.store.driver_blob_known(&format!("h{n:02}")).await.unwrap() {
                kept.push(n);
            }
        }
        assert_eq!(kept, [0, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    }
}
