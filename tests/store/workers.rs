use std::time::Duration;

use support::both_databases;

const LONG: Duration = Duration::from_secs(60);

both_databases! {
    async fn a_worker_is_alive_until_its_lease_ends(db) {
        let mut tx = db.store.begin().await.unwrap();
        tx.add_worker("a", "box:17", LONG).await.unwrap();
        tx.add_worker("b", "box:18", Duration::ZERO).await.unwrap();
        tx.commit().await.unwrap();
        let mut found: Vec<_> = db.store.workers().await.unwrap().into_iter().map(|w| (w.id, w.label, w.alive)).collect();
        found.sort();
        assert_eq!(found, [("a".into(), "box:17".into(), true), ("b".into(), "box:18".into(), false)]);
    }

    async fn a_heartbeat_prolongs_a_living_lease_and_cannot_revive_a_lapsed_one(db) {
        let mut tx = db.store.begin().await.unwrap();
        tx.add_worker("a", "box:17", LONG).await.unwrap();
        tx.add_worker("b", "box:18", Duration::ZERO).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.renew_worker("a", LONG * 2).await.unwrap());
        assert!(!tx.renew_worker("b", LONG).await.unwrap());
        assert!(!tx.renew_worker("nobody", LONG).await.unwrap());
        tx.commit().await.unwrap();
        let a = db.store.workers().await.unwrap().into_iter().find(|w| w.id == "a").unwrap();
        assert!(a.lease_until - a.heartbeat_at >= 120_000_000);
    }

    async fn only_dead_workers_are_removed(db) {
        assert!(!db.store.has_dead_workers().await.unwrap());
        let mut tx = db.store.begin().await.unwrap();
        tx.add_worker("a", "box:17", LONG).await.unwrap();
        tx.add_worker("b", "box:18", Duration::ZERO).await.unwrap();
        tx.commit().await.unwrap();
        assert!(db.store.has_dead_workers().await.unwrap());
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.remove_dead_workers().await.unwrap(), 1);
        tx.commit().await.unwrap();
        assert_eq!(db.store.workers().await.unwrap().into_iter().map(|w| w.id).collect::<Vec<_>>(), ["a"]);
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.remove_all_workers().await.unwrap(), 1);
        tx.commit().await.unwrap();
    }
}
