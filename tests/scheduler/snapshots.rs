//! Snapshots, copies and growth in the store: conditional changes, figures and claims, on both databases.

use std::time::Duration;

use serde_json::json;
use stowage::{
    domain::{snapshot::SnapshotStatus, volume::VolumeStatus},
    jobs::{Jobs, JobsOptions, NewJob},
    scheduler::{Operation, PlacementRequest},
    store::{
        Store,
        bind::Value,
        keyset::{ListKey as _, Order},
        sql::{
            metadata::MetadataOf,
            snapshot_list::{SnapshotFilter, SnapshotQuery, SnapshotSort},
            snapshots::{CopySource, NewSnapshot},
            types::{TypeOf, TypeRow},
            volume_work::ProviderUpdate,
            volumes::NewVolume,
        },
    },
};
use support::both_databases;

use crate::world::{config, placed, pool, pool_row, report_now, settle, up, volume};

const P: &str = "stowage@a#p";

/// Back end `a` with 20 GiB, types `t` and `u`, and an available volume `v` of 4 GiB.
async fn a_volume(store: &Store) {
    up(store, &config("a"), vec![pool("p", 20.0, 20.0)]).await;
    let mut tx = store.begin().await.unwrap();
    for id in ["t", "u"] {
        let row = TypeRow {
            id: id.into(),
            name: id.into(),
            description: None,
            is_public: true,
            qos_specs_id: None,
            created_at: 1,
            updated_at: None,
        };
        tx.type_insert(TypeOf::Volume, &row, &[]).await.unwrap();
    }
    tx.volume_insert(&new_volume("v", None)).await.unwrap();
    tx.commit().await.unwrap();
    placed(store, &volume("v", 4)).await.unwrap();
    settle(store, "v").await;
    let mut tx = store.begin().await.unwrap();
    tx.volume_placed("v", P, 1).await.unwrap();
    tx.volume_status("v", &[VolumeStatus::Creating], VolumeStatus::Available, 1).await.unwrap();
    tx.commit().await.unwrap();
}

fn new_volume(id: &str, source: Option<CopySource>) -> NewVolume {
    NewVolume {
        id: id.to_owned(),
        project_id: "p".to_owned(),
        user_id: "u".to_owned(),
        name: None,
        description: None,
        size_gib: 4,
        volume_type_id: "t".to_owned(),
        availability_zone: "nova".to_owned(),
        multiattach: false,
        bootable: true,
        snapshot_id: (source == Some(CopySource::Snapshot)).then(|| "s0".to_owned()),
        source_volid: (source == Some(CopySource::Volume)).then(|| "v".to_owned()),
        created_at: 1,
    }
}

fn new_snapshot(n: i64) -> NewSnapshot {
    NewSnapshot {
        id: format!("s{n}"),
        volume_id: "v".to_owned(),
        project_id: "p".to_owned(),
        user_id: "u".to_owned(),
        name: (n % 2 == 0).then(|| format!("name {n}")),
        description: None,
        size_gib: 4,
        status: SnapshotStatus::Creating,
        backed: true,
        quota_gib: 4,
        created_at: n,
    }
}

async fn snapshots(store: &Store, count: i64) {
    let mut tx = store.begin().await.unwrap();
    for n in 0..count {
        tx.snapshot_insert(&new_snapshot(n)).await.unwrap();
        tx.metadata_put(MetadataOf::Snapshot, &format!("s{n}"), &[("n".into(), n.to_string())]).await.unwrap();
    }
    tx.commit().await.unwrap();
}

fn growth(gib: i64) -> PlacementRequest {
    PlacementRequest { only_pool: Some(P.into()), operation: Operation::Extend, ..volume("v", gib) }
}

/// Figures by resource, as the check counts them.
async fn counted(store: &Store) -> Vec<(String, i64)> {
    let mut tx = store.begin().await.unwrap();
    let mut found: Vec<_> = tx.count_quota().await.unwrap().into_iter().filter(|c| c.amount > 0).map(|c| (c.resource, c.amount)).collect();
    tx.rollback().await.unwrap();
    found.sort();
    found
}

fn figures(list: &[(&str, i64)]) -> Vec<(String, i64)> {
    list.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect()
}

both_databases! {
    async fn a_change_of_status_names_where_it_starts(db) {
        a_volume(&db.store).await;
        snapshots(&db.store, 1).await;
        let mut tx = db.store.begin().await.unwrap();
        assert!(!tx.snapshot_begin_delete("s0", false, 2).await.unwrap(), "it is being made");
        assert!(tx.snapshot_made("s0", Some("p0"), None, 3).await.unwrap());
        assert!(!tx.snapshot_failed("s0", false, 4).await.unwrap(), "it is available");
        assert!(!tx.snapshot_made("nope", None, None, 3).await.unwrap());
        let row = tx.snapshot_locked("s0").await.unwrap().unwrap();
        assert_eq!((row.status.as_str(), row.progress.as_str(), row.provider_id.as_deref()), ("available", "100%", Some("p0")));
        assert_eq!((row.host.as_deref(), row.type_name.as_str(), row.backed), (Some(P), "t", true));
        assert!(tx.snapshot_tell("s0", SnapshotStatus::Creating, Some("7%"), 5).await.unwrap());
        assert!(tx.snapshot_tell("s0", SnapshotStatus::Creating, None, 5).await.unwrap());
        assert_eq!(tx.snapshot("s0").await.unwrap().unwrap().progress, "7%");
        assert!(tx.snapshot_failed("s0", false, 6).await.unwrap());
        assert!(!tx.snapshot("s0").await.unwrap().unwrap().backed);
        assert!(tx.snapshot_describe("s0", Some(Some("n")), Some(None), 7).await.unwrap());
        assert!(tx.snapshot_begin_delete("s0", false, 8).await.unwrap());
        assert!(tx.snapshot_remove("s0").await.unwrap() && !tx.snapshot_remove("s0").await.unwrap());
        tx.commit().await.unwrap();
        assert!(!db.store.has_snapshots("v").await.unwrap());
    }

    async fn a_volume_with_snapshots_cannot_go(db) {
        a_volume(&db.store).await;
        snapshots(&db.store, 1).await;
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.volume_remove("v", &[VolumeStatus::Available]).await.is_err());
        drop(tx);
        assert!(db.store.has_snapshots("v").await.unwrap());
    }

    async fn lists_filter_sort_and_page(db) {
        a_volume(&db.store).await;
        snapshots(&db.store, 5).await;
        let by = |key: SnapshotSort, descending| Order { column: key.column(), descending, nullable: false };
        let list = |filters: Vec<SnapshotFilter>, order: Vec<Order>, after: Option<Vec<Value>>| {
            let store = db.store.clone();
            async move {
                let query = SnapshotQuery { filters, order, after, limit: 10, offset: 0 };
                store.snapshots(&query).await.unwrap().into_iter().map(|s| s.row.id).collect::<Vec<_>>()
            }
        };
        let order = || vec![by(SnapshotSort::CreatedAt, true), by(SnapshotSort::Id, true)];
        assert_eq!(list(vec![], order(), None).await, ["s4", "s3", "s2", "s1", "s0"]);
        let at = vec![Value::from(3_i64), Value::from("s3")];
        assert_eq!(list(vec![], order(), Some(at)).await, ["s2", "s1", "s0"]);
        // every key sorts, and a row's value of it is where a page begins
        let row = db.store.snapshot("s2").await.unwrap().unwrap();
        for key in SnapshotSort::ALL.iter().filter(|k| **k != SnapshotSort::Id) {
            let order = vec![by(*key, false), by(SnapshotSort::Id, false)];
            let all = list(vec![], order.clone(), None).await;
            let after = list(vec![], order, Some(vec![key.value(&row), Value::from("s2")])).await;
            let place = all.iter().position(|id| id == "s2").unwrap();
            assert_eq!(after, all[place + 1..], "{key}");
        }
        for (filter, expected) in [
            (SnapshotFilter::Project("p".into()), 5),
            (SnapshotFilter::Equals("name", Value::from("name 2")), 1),
            (SnapshotFilter::OfVolume("availability_zone", Value::from("nova")), 5),
            (SnapshotFilter::OfVolume("host", Value::from("elsewhere")), 0),
            (SnapshotFilter::Metadata("n".into(), "3".into()), 1),
            (SnapshotFilter::Never, 0),
        ] {
            assert_eq!(list(vec![filter.clone()], order(), None).await.len(), expected, "{filter:?}");
            assert_eq!(db.store.snapshot_count(&[filter]).await.unwrap(), i64::try_from(expected).unwrap());
        }
        let complete = db.store.snapshot_complete("s3").await.unwrap().unwrap();
        assert_eq!(complete.metadata, [("n".to_owned(), "3".to_owned())]);
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.snapshots_of("v").await.unwrap()[0].id, "s4", "the newest first");
        assert_eq!(tx.snapshots_in_quota("v").await.unwrap(), [("p".to_owned(), 5, 20)]);
        assert!(tx.metadata_remove(MetadataOf::Snapshot, "s3", "n").await.unwrap());
        tx.metadata_clear(MetadataOf::Snapshot, "s2").await.unwrap();
        assert_eq!(tx.metadata(MetadataOf::Snapshot, "s3").await.unwrap(), []);
    }

    async fn what_is_under_way_counts_in_the_figures(db) {
        a_volume(&db.store).await;
        let mine = |list: Vec<(String, i64)>| list;
        assert_eq!(mine(counted(&db.store).await), figures(&[("gigabytes", 4), ("gigabytes_t", 4), ("volumes", 1), ("volumes_t", 1)]));
        snapshots(&db.store, 2).await;
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.volume_begin_extend("v", &[VolumeStatus::Available], 9, 2).await.unwrap());
        assert!(!tx.volume_begin_retype("v", &[VolumeStatus::Extending], "u", 2).await.unwrap(), "one at a time");
        tx.commit().await.unwrap();
        let extending = [("gigabytes", 17), ("gigabytes_t", 17), ("snapshots", 2), ("snapshots_t", 2), ("volumes", 1), ("volumes_t", 1)];
        assert_eq!(counted(&db.store).await, figures(&extending));
        let mut tx = db.store.begin().await.unwrap();
        let update = ProviderUpdate { provider_id: Some("x".into()), provider_data: None };
        assert!(!tx.volume_end_extend("v", 8, Some(&update), None, 3).await.unwrap(), "another extend");
        assert!(tx.volume_end_extend("v", 9, Some(&update), None, 3).await.unwrap());
        let row = tx.volume("v").await.unwrap().unwrap();
        assert_eq!((row.size_gib, row.status.as_str(), row.provider_id.as_deref()), (9, "available", Some("x")));
        assert!(tx.volume_begin_retype("v", &[VolumeStatus::Available], "u", 4).await.unwrap());
        tx.commit().await.unwrap();
        let retyping = [
            ("gigabytes", 17), ("gigabytes_t", 17), ("gigabytes_u", 17), ("snapshots", 2), ("snapshots_t", 2), ("snapshots_u", 2),
            ("volumes", 1), ("volumes_t", 1), ("volumes_u", 1),
        ];
        assert_eq!(counted(&db.store).await, figures(&retyping));
        let mut tx = db.store.begin().await.unwrap();
        assert!(!tx.type_remove(TypeOf::Volume, "u").await.unwrap(), "it is wanted");
        assert!(tx.volume_end_retype("v", "u", Some(true), &ProviderUpdate::default(), 5).await.unwrap());
        let row = tx.volume("v").await.unwrap().unwrap();
        assert_eq!((row.volume_type_id.as_str(), row.multiattach, row.status.as_str(), row.retype_to), ("u", true, "available", None));
        tx.commit().await.unwrap();
    }

    async fn a_failed_extend_keeps_the_size_and_a_told_status(db) {
        a_volume(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        tx.volume_begin_extend("v", &[VolumeStatus::Available], 9, 2).await.unwrap();
        assert!(tx.volume_end_extend("v", 9, None, Some(VolumeStatus::ErrorExtending), 3).await.unwrap());
        let row = tx.volume("v").await.unwrap().unwrap();
        assert_eq!((row.size_gib, row.status.as_str(), row.previous_status), (4, "error_extending", None));
        // an operator gave it another status meanwhile
        tx.volume_tell("v", Some(VolumeStatus::Available), None, Some(Some("success")), 4).await.unwrap();
        tx.volume_begin_extend("v", &[VolumeStatus::Available], 9, 5).await.unwrap();
        tx.volume_tell("v", Some(VolumeStatus::Maintenance), None, Some(None), 6).await.unwrap();
        assert!(tx.volume_end_extend("v", 9, None, Some(VolumeStatus::ErrorExtending), 7).await.unwrap());
        let row = tx.volume("v").await.unwrap().unwrap();
        assert_eq!((row.status.as_str(), row.extend_to, row.migration_status), ("maintenance", None, None));
        assert!(tx.volume_readonly("v", true, 8).await.unwrap() && tx.volume_bootable("v", false, 8).await.unwrap());
        assert_eq!(tx.volume("v").await.unwrap().unwrap().readonly, Some(true));
    }

    async fn a_growth_takes_room_and_gives_it_back_in_two_ways(db) {
        a_volume(&db.store).await;
        report_now(&db.store, "stowage@a", pool("p", 20.0, 16.0)).await;
        placed(&db.store, &growth(17)).await.unwrap_err();
        placed(&db.store, &growth(10)).await.unwrap();
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources), (10, 14, 1));
        // it certainly did not happen
        let mut tx = db.store.begin().await.unwrap();
        tx.release_claim("v").await.unwrap();
        tx.commit().await.unwrap();
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources), (0, 4, 1));
        // it may have: the room stays taken until a report that began later
        placed(&db.store, &growth(10)).await.unwrap();
        for _ in 0..2 {
            let mut tx = db.store.begin().await.unwrap();
            tx.forget_growth("v").await.unwrap();
            tx.commit().await.unwrap();
        }
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources), (10, 4, 1));
        assert_eq!(db.store.allocation("v").await.unwrap().unwrap().gib, 4);
        report_now(&db.store, "stowage@a", pool("p", 20.0, 16.0)).await;
        assert_eq!(pool_row(&db.store, P).await.claimed_gib, 0);
    }

    async fn a_snapshot_takes_room_beside_its_volume(db) {
        a_volume(&db.store).await;
        report_now(&db.store, "stowage@a", pool("p", 20.0, 16.0)).await;
        let ask = |id: &str, gib| PlacementRequest { only_pool: Some(P.into()), operation: Operation::Snapshot, ..volume(id, gib) };
        placed(&db.store, &ask("s0", 12)).await.unwrap();
        placed(&db.store, &ask("s1", 5)).await.unwrap_err();
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources), (12, 4, 1), "a snapshot is no volume of the pool");
        settle(&db.store, "s0").await;
        report_now(&db.store, "stowage@a", pool("p", 20.0, 4.0)).await;
        assert_eq!(pool_row(&db.store, P).await.claimed_gib, 0);
    }

    async fn a_source_is_held_as_long_as_the_create_of_its_copy(db) {
        a_volume(&db.store).await;
        snapshots(&db.store, 1).await;
        let options = JobsOptions { work: false, ..JobsOptions::default() };
        let jobs = Jobs::new(db.store.clone(), options);
        for (id, source, from) in [("c", CopySource::Snapshot, "s0"), ("d", CopySource::Volume, "v")] {
            let mut tx = db.store.begin().await.unwrap();
            tx.volume_insert(&new_volume(id, Some(source))).await.unwrap();
            assert_eq!(tx.being_copied(source, from).await.unwrap(), None, "nobody makes it");
            let job = NewJob {
                kind: "volume.create",
                resource_kind: "volume",
                order_key: id.into(),
                resource_id: id.into(),
                backend: None,
                payload: json!({}),
                max_age: Duration::from_secs(60),
                request_id: "r".into(),
                project_id: "p".into(),
                user_id: "u".into(),
            };
            tx.enqueue(&jobs, job).await.unwrap();
            assert_eq!(tx.being_copied(source, from).await.unwrap().as_deref(), Some(id));
            tx.commit().await.unwrap();
            let row = db.store.volume(id).await.unwrap().unwrap();
            assert_eq!((row.snapshot_id.is_some(), row.source_volid.is_some(), row.bootable), (source == CopySource::Snapshot, source == CopySource::Volume, true));
        }
    }
}
