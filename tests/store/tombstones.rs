use std::time::Duration;

use serde_json::json;
use stowage::store::sql::tombstones::Tombstone;
use support::both_databases;

fn tombstone(id: &str) -> Tombstone {
    Tombstone {
        kind: "volume",
        id: id.into(),
        project_id: "p1".into(),
        sort_keys: json!({"created_at": 17, "name": "naïve ☂"}),
        host: "stowage@a#pool".into(),
        provider_id: "lun-9".into(),
        request_id: "req-1".into(),
    }
}

both_databases! {
    async fn a_tombstone_keeps_what_a_marker_and_an_orphan_need(db) {
        let mut tx = db.store.begin().await.unwrap();
        tx.tombstone(&tombstone("v1")).await.unwrap();
        tx.commit().await.unwrap();
        let found = db.store.tombstone("volume", "v1").await.unwrap().unwrap();
        assert_eq!(found.sort_keys, json!({"created_at": 17, "name": "naïve ☂"}));
        assert_eq!((found.project_id.as_str(), found.host.as_str(), found.provider_id.as_str(), found.request_id.as_str()), ("p1", "stowage@a#pool", "lun-9", "req-1"));
        assert!((found.deleted_at - db.store.database_now().await.unwrap()).abs() < 60_000_000);
        assert_eq!(db.store.tombstone("snapshot", "v1").await.unwrap(), None);
    }

    async fn a_repeated_delete_leaves_the_first_tombstone(db) {
        let mut tx = db.store.begin().await.unwrap();
        tx.tombstone(&tombstone("v1")).await.unwrap();
        tx.tombstone(&Tombstone { request_id: "req-2".into(), ..tombstone("v1") }).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(db.store.tombstone("volume", "v1").await.unwrap().unwrap().request_id, "req-1");
    }

    async fn tombstones_are_purged_by_age_and_in_batches(db) {
        let mut tx = db.store.begin().await.unwrap();
        for n in 0..3 {
            tx.tombstone(&tombstone(&format!("v{n}"))).await.unwrap();
        }
        assert_eq!(tx.purge_tombstones(Duration::from_secs(60), 10).await.unwrap(), 0, "none is old enough");
        assert_eq!(tx.purge_tombstones(Duration::ZERO, 2).await.unwrap(), 2);
        assert_eq!(tx.purge_tombstones(Duration::ZERO, 2).await.unwrap(), 1);
        tx.commit().await.unwrap();
        assert_eq!(db.store.tombstone("volume", "v0").await.unwrap(), None);
    }
}
