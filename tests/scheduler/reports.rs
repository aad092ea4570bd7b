//! Back ends and their reports in the store.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use stowage::{
    clock,
    scheduler::{BackendKind, ReportStored, capacity::Capacity::Infinite},
};
use support::both_databases;

use crate::world::{config, configure, placed, pool, pool_row, report, report_now, settle, store_report, up, volume};

both_databases! {
    async fn a_back_end_without_an_id_gets_a_uuid_once_and_for_all(db) {
        configure(&db.store, &config("a")).await;
        let first = db.store.backend("stowage@a").await.unwrap().unwrap();
        assert!(uuid::Uuid::parse_str(&first.backend_name).is_ok());
        assert_eq!(first.service_uuid, first.backend_name);
        configure(&db.store, &config("a")).await;
        assert_eq!(db.store.backend("stowage@a").await.unwrap().unwrap().backend_name, first.backend_name);
    }

    async fn a_configured_id_is_the_name_and_gives_the_same_uuid_to_every_back_end_that_has_it(db) {
        let uuid = "7d5bfbfb-8d2f-4d9c-8f0e-0f6a5e1ad0aa";
        for (name, id) in [("a", "array-7"), ("b", "array-7"), ("c", uuid)] {
            let mut config = config(name);
            config.backend_id = Some(id.to_owned());
            configure(&db.store, &config).await;
        }
        let of = async |name: &str| db.store.backend(&format!("stowage@{name}")).await.unwrap().unwrap();
        assert_eq!(of("a").await.backend_name, "array-7");
        assert_eq!(of("a").await.service_uuid, of("b").await.service_uuid);
        assert!(uuid::Uuid::parse_str(&of("a").await.service_uuid).is_ok());
        assert_eq!(of("c").await.service_uuid, uuid);
    }

    async fn an_id_that_is_taken_away_gives_way_to_a_uuid_of_its_own(db) {
        let mut shared = config("a");
        shared.backend_id = Some("array-7".to_owned());
        configure(&db.store, &shared).await;
        configure(&db.store, &config("a")).await;
        let row = db.store.backend("stowage@a").await.unwrap().unwrap();
        assert!(uuid::Uuid::parse_str(&row.backend_name).is_ok());
        assert_eq!(row.service_uuid, row.backend_name);
    }

    async fn a_report_whose_call_began_earlier_changes_nothing(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 5.0)]).await;
        let late = report("stowage@a", db.store.now().await.unwrap() - 1_000_000, vec![pool("p", 10.0, 10.0)]);
        assert_eq!(store_report(&db.store, &late).await, ReportStored::Stale);
        assert_eq!(pool_row(&db.store, "stowage@a#p").await.free, stowage::scheduler::capacity::Capacity::Gib(5.0));
        assert_eq!(store_report(&db.store, &report("stowage@nobody", 1, vec![])).await, ReportStored::Stale);
    }

    async fn storing_tells_what_shared_targets_was_before(db) {
        configure(&db.store, &config("a")).await;
        let now = db.store.now().await.unwrap();
        let mut r = report("stowage@a", now, vec![pool("p", 1.0, 1.0)]);
        assert_eq!(store_report(&db.store, &r).await, ReportStored::Stored { shared_targets_before: None, was_down: true });
        r.shared_targets = None;
        assert_eq!(store_report(&db.store, &r).await, ReportStored::Stored { shared_targets_before: Some(Some(true)), was_down: false });
        r.shared_targets = Some(false);
        assert_eq!(store_report(&db.store, &r).await, ReportStored::Stored { shared_targets_before: Some(None), was_down: false });
        assert_eq!(db.store.backend("stowage@a").await.unwrap().unwrap().shared_targets(), Some(false));
    }

    async fn a_back_end_is_down_until_it_reports_and_while_it_is_marked(db) {
        configure(&db.store, &config("a")).await;
        let row = db.store.backend("stowage@a").await.unwrap().unwrap();
        assert_eq!(row.state(clock::now()).unwrap_err(), "it has not reported yet");
        report_now(&db.store, "stowage@a", pool("p", 1.0, 1.0)).await;
        assert_eq!(db.store.backend("stowage@a").await.unwrap().unwrap().state(clock::now()), Ok(()));
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.mark_backend_down("stowage@a", "log-in refused", i64::MAX, 0).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(db.store.backend("stowage@a").await.unwrap().unwrap().state(clock::now()).unwrap_err(), "log-in refused");
        report_now(&db.store, "stowage@a", pool("p", 1.0, 1.0)).await;
        assert_eq!(db.store.backend("stowage@a").await.unwrap().unwrap().state(clock::now()), Ok(()));
    }

    async fn a_report_that_is_long_overdue_counts_as_down(db) {
        up(&db.store, &config("a"), vec![pool("p", 1.0, 1.0)]).await;
        let row = db.store.backend("stowage@a").await.unwrap().unwrap();
        assert_eq!(row.state(clock::now() + 60_000_000), Ok(()));
        assert!(row.state(clock::now() + 3_600_000_000).unwrap_err().contains("overdue"));
    }

    async fn of_all_who_ask_one_gets_the_turn_to_report(db) {
        configure(&db.store, &config("a")).await;
        let turns = (0..8).map(|_| {
            let store = db.store.clone();
            tokio::spawn(async move {
                let mut tx = store.begin().await.unwrap();
                let mine = tx.take_report_turn("stowage@a", Duration::from_secs(60)).await.unwrap();
                tx.commit().await.unwrap();
                mine
            })
        });
        assert_eq!(join_all(turns).await.into_iter().filter(|t| *t.as_ref().unwrap()).count(), 1);
    }

    async fn a_pool_that_vanishes_takes_nothing_and_one_with_volumes_stays_visible(db) {
        up(&db.store, &config("a"), vec![pool("p", 9.0, 9.0), pool("q", 5.0, 5.0)]).await;
        placed(&db.store, &volume("v", 1)).await.unwrap();
        settle(&db.store, "v").await;
        report_now(&db.store, "stowage@a", pool("r", 1.0, 1.0)).await;
        let names: Vec<_> = db.store.pools_of("stowage@a").await.unwrap().into_iter().map(|p| (p.name, p.present)).collect();
        assert_eq!(names, [("stowage@a#p".to_owned(), false), ("stowage@a#r".to_owned(), true)]);
        placed(&db.store, &volume("w", 3)).await.unwrap_err();
        report_now(&db.store, "stowage@a", pool("p", 9.0, 8.0)).await;
        let back = pool_row(&db.store, "stowage@a#p").await;
        assert_eq!((back.present, back.allocated_gib, back.resources), (true, 1, 1));
    }

    async fn an_operators_switch_survives_a_reload_and_the_configurations_does_not(db) {
        up(&db.store, &config("a"), vec![pool("p", 9.0, 9.0)]).await;
        let switch = async |enabled, reason| {
            let mut tx = db.store.begin().await.unwrap();
            assert!(tx.set_backend_enabled("stowage@a", enabled, reason).await.unwrap());
            assert!(!tx.set_backend_enabled("stowage@nobody", enabled, reason).await.unwrap());
            tx.commit().await.unwrap();
        };
        let enabled = async || db.store.backend("stowage@a").await.unwrap().unwrap().enabled;
        switch(false, Some("firmware")).await;
        configure(&db.store, &config("a")).await;
        assert!(!enabled().await, "an operator switched it off");
        switch(true, None).await;
        let mut off = config("a");
        off.disabled = true;
        configure(&db.store, &off).await;
        assert!(!enabled().await, "its section switches it off");
        configure(&db.store, &config("a")).await;
        assert!(enabled().await, "its section no longer does");
    }

    async fn a_back_end_that_leaves_the_configuration_stays_while_volumes_lie_there(db) {
        up(&db.store, &config("a"), vec![pool("p", 9.0, 9.0)]).await;
        up(&db.store, &config("b"), vec![pool("p", 5.0, 5.0)]).await;
        placed(&db.store, &volume("v", 1)).await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        let gone = tx.retire_backends_except(BackendKind::Block, &[]).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(gone, ["stowage@a", "stowage@b"]);
        let left = db.store.backends(Some(BackendKind::Block)).await.unwrap();
        assert_eq!(left.len(), 1);
        assert!(left[0].state(clock::now()).unwrap_err().contains("configuration"));
        placed(&db.store, &volume("w", 1)).await.unwrap_err();
    }

    async fn the_dictionary_shows_the_drivers_keys_with_our_figures(db) {
        let mut p = pool("p", 9.0, 8.5);
        p.thin = true;
        p.capabilities = json!({"multiattach": true, "pool_name": "smuggled"}).as_object().unwrap().clone();
        configure(&db.store, &config("a")).await;
        let mut r = report("stowage@a", db.store.now().await.unwrap(), vec![p, pool("q", 1.0, 1.0)]);
        r.capabilities = json!({"vendor_name": "Acme", "multiattach": false}).as_object().unwrap().clone();
        r.pools[1].total = Infinite;
        store_report(&db.store, &r).await;
        placed(&db.store, &volume("v", 2)).await.unwrap();
        let seen = pool_row(&db.store, "stowage@a#p").await.capabilities();
        for (key, value) in [
            ("vendor_name", json!("Acme")), ("multiattach", json!(true)), ("pool_name", json!("p")), ("total_capacity_gb", json!(9)),
            ("free_capacity_gb", json!(8.5)), ("allocated_capacity_gb", json!(2)), ("provisioned_capacity_gb", json!(2)),
            ("thin_provisioning_support", json!(true)), ("thick_provisioning_support", json!(true)), ("total_volumes", json!(1)),
            ("reserved_percentage", json!(0)), ("max_over_subscription_ratio", json!("20")),
        ] {
            assert_eq!(seen[key], value, "{key}");
        }
        assert_eq!(pool_row(&db.store, "stowage@a#q").await.capabilities()["total_capacity_gb"], json!("infinite"));
    }
}
