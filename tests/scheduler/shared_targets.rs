//! Volumes take a safer `shared_targets` in one transaction, and never a less safe one that way.

use stowage::{
    domain::volume::VolumeStatus,
    store::{
        Store,
        sql::{
            types::{TypeOf, TypeRow},
            volumes::NewVolume,
        },
    },
};
use support::both_databases;

use crate::world::{config, configure, placed, pool, report, store_report, volume};

/// Two volumes on back end `a`, which reports `value`.
async fn volumes_that_carry(store: &Store, value: Option<bool>) {
    configure(store, &config("a")).await;
    let mut r = report("stowage@a", store.now().await.unwrap(), vec![pool("p", 10.0, 10.0)]);
    r.shared_targets = value;
    store_report(store, &r).await;
    let mut tx = store.begin().await.unwrap();
    let of_type = TypeRow {
        id: "t".into(),
        name: "t".into(),
        description: None,
        is_public: true,
        qos_specs_id: None,
        created_at: 1,
        updated_at: None,
    };
    tx.type_insert(TypeOf::Volume, &of_type, &[]).await.unwrap();
    tx.commit().await.unwrap();
    for id in ["v", "w"] {
        let mut tx = store.begin().await.unwrap();
        tx.volume_insert(&new(id)).await.unwrap();
        tx.commit().await.unwrap();
        let won = placed(store, &volume(id, 1)).await.unwrap();
        let mut tx = store.begin().await.unwrap();
        assert!(tx.volume_placed(id, &won.host, 1).await.unwrap());
        assert!(tx.volume_status(id, &[VolumeStatus::Creating], VolumeStatus::Available, 1).await.unwrap());
        let row = store.backend("stowage@a").await.unwrap();
        tx.volume_identity(id, &stowage::service::volume::follow::identity(&row.unwrap())).await.unwrap();
        tx.commit().await.unwrap();
    }
}

fn new(id: &str) -> NewVolume {
    NewVolume {
        id: id.to_owned(),
        project_id: "p".to_owned(),
        user_id: "u".to_owned(),
        name: None,
        description: None,
        size_gib: 1,
        volume_type_id: "t".to_owned(),
        availability_zone: "nova".to_owned(),
        multiattach: false,
        bootable: false,
        snapshot_id: None,
        source_volid: None,
        created_at: 1,
    }
}

async fn at_least(store: &Store, value: Option<bool>) -> u64 {
    let mut tx = store.begin().await.unwrap();
    let changed = tx.shared_targets_at_least("stowage@a", value).await.unwrap();
    tx.commit().await.unwrap();
    changed
}

async fn carried(store: &Store) -> Option<bool> {
    let (v, w) = (store.volume("v").await.unwrap().unwrap(), store.volume("w").await.unwrap().unwrap());
    assert_eq!(v.shared_targets, w.shared_targets);
    v.shared_targets
}

both_databases! {
    async fn a_safer_report_reaches_every_volume_in_one_transaction(db) {
        volumes_that_carry(&db.store, Some(false)).await;
        assert_eq!(at_least(&db.store, Some(true)).await, 2);
        assert_eq!(carried(&db.store).await, Some(true));
        assert_eq!(db.store.backend("stowage@a").await.unwrap().unwrap().shared_targets(), Some(true));
        assert_eq!(at_least(&db.store, None).await, 2);
        assert_eq!(carried(&db.store).await, None);
    }

    async fn a_less_safe_report_does_not(db) {
        volumes_that_carry(&db.store, None).await;
        assert_eq!(at_least(&db.store, Some(true)).await, 0);
        assert_eq!(at_least(&db.store, Some(false)).await, 0);
        assert_eq!(carried(&db.store).await, None);
        assert_eq!(db.store.backend("stowage@a").await.unwrap().unwrap().shared_targets(), None);
    }

    async fn the_same_report_changes_nothing(db) {
        volumes_that_carry(&db.store, Some(true)).await;
        assert_eq!(at_least(&db.store, Some(true)).await, 0);
        assert_eq!(carried(&db.store).await, Some(true));
    }

    async fn only_the_incarnation_swapped_in_last_makes_it_less_safe(db) {
        volumes_that_carry(&db.store, Some(false)).await;
        let mut tx = db.store.begin().await.unwrap();
        tx.adopt_incarnation("stowage@a", "new").await.unwrap();
        tx.shared_targets_at_least("stowage@a", Some(true)).await.unwrap();
        tx.commit().await.unwrap();
        // the old one, still in service for a moment, reports once more
        assert_eq!(reported(&db.store, "old", Some(false)).await, Some(true));
        assert_eq!(reported(&db.store, "old", None).await, None, "a safer word counts from anybody");
        assert_eq!(reported(&db.store, "new", Some(false)).await, Some(false));
    }
}

/// What the back end's row says after a report of this incarnation.
async fn reported(store: &Store, incarnation: &str, value: Option<bool>) -> Option<bool> {
    let mut r = report("stowage@a", store.now().await.unwrap(), vec![pool("p", 10.0, 10.0)]);
    r.shared_targets = value;
    r.incarnation = incarnation.to_owned();
    assert!(matches!(store_report(store, &r).await, stowage::scheduler::ReportStored::Stored { .. }));
    store.backend("stowage@a").await.unwrap().unwrap().shared_targets()
}
