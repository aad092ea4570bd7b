//! Who holds how much: room taken counts until a report that began later shows it.

use stowage::scheduler::{Operation, PlacementRequest};
use support::both_databases;

use crate::world::{config, forget, placed, pool, pool_row, release, report, report_now, settle, store_report, up, volume};

const P: &str = "stowage@a#p";

both_databases! {
    async fn room_taken_is_gone_for_the_next(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 7)).await.unwrap();
        placed(&db.store, &volume("w", 4)).await.unwrap_err();
        placed(&db.store, &volume("x", 3)).await.unwrap();
    }

    async fn what_the_driver_did_not_make_is_free_at_once(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 10)).await.unwrap();
        release(&db.store, "v").await;
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources), (0, 0, 0));
        placed(&db.store, &volume("w", 10)).await.unwrap();
    }

    async fn a_report_that_began_after_the_call_had_ended_replaces_the_claim(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 6)).await.unwrap();
        settle(&db.store, "v").await;
        report_now(&db.store, "stowage@a", pool("p", 10.0, 4.0)).await;
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources), (0, 6, 1));
        placed(&db.store, &volume("w", 5)).await.unwrap_err();
        placed(&db.store, &volume("w", 4)).await.unwrap();
    }

    async fn a_report_that_began_before_the_call_had_ended_does_not(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 6)).await.unwrap();
        let began = db.store.now().await.unwrap();
        settle(&db.store, "v").await;
        // the driver had read its free space before the volume was there
        store_report(&db.store, &report("stowage@a", began, vec![pool("p", 10.0, 10.0)])).await;
        assert_eq!(pool_row(&db.store, P).await.claimed_gib, 6);
        placed(&db.store, &volume("w", 5)).await.unwrap_err();
    }

    async fn an_open_claim_outlives_every_report(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 6)).await.unwrap();
        report_now(&db.store, "stowage@a", pool("p", 10.0, 10.0)).await;
        report_now(&db.store, "stowage@a", pool("p", 10.0, 10.0)).await;
        placed(&db.store, &volume("w", 5)).await.unwrap_err();
    }

    async fn a_delete_gives_room_back_with_a_later_report_only(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 10)).await.unwrap();
        settle(&db.store, "v").await;
        forget(&db.store, "v").await;
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.allocated_gib, row.resources), (0, 0), "it is no longer counted as given");
        placed(&db.store, &volume("w", 1)).await.unwrap_err();
        report_now(&db.store, "stowage@a", pool("p", 10.0, 10.0)).await;
        placed(&db.store, &volume("w", 10)).await.unwrap();
    }

    async fn a_delete_of_what_a_report_showed_waits_for_the_next_report_too(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 10)).await.unwrap();
        settle(&db.store, "v").await;
        report_now(&db.store, "stowage@a", pool("p", 10.0, 0.0)).await;
        forget(&db.store, "v").await;
        placed(&db.store, &volume("w", 1)).await.unwrap_err();
        report_now(&db.store, "stowage@a", pool("p", 10.0, 10.0)).await;
        placed(&db.store, &volume("w", 10)).await.unwrap();
    }

    async fn growth_and_snapshots_reserve_too(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 4)).await.unwrap();
        settle(&db.store, "v").await;
        let grow = PlacementRequest { operation: Operation::Extend, only_pool: Some(P.into()), ..volume("v", 3) };
        placed(&db.store, &grow).await.unwrap();
        let snapshot = PlacementRequest { operation: Operation::Snapshot, only_pool: Some(P.into()), ..volume("s", 2) };
        placed(&db.store, &snapshot).await.unwrap();
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources), (9, 7, 1));
        placed(&db.store, &volume("w", 2)).await.unwrap_err();
        placed(&db.store, &volume("w", 1)).await.unwrap();
    }

    async fn growth_that_failed_gives_only_the_growth_back(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 4)).await.unwrap();
        settle(&db.store, "v").await;
        let grow = PlacementRequest { operation: Operation::Extend, only_pool: Some(P.into()), ..volume("v", 3) };
        placed(&db.store, &grow).await.unwrap();
        release(&db.store, "v").await;
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources), (4, 4, 1));
        assert_eq!(db.store.allocation("v").await.unwrap().unwrap().gib, 4);
    }

    async fn every_ending_may_be_repeated(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 4)).await.unwrap();
        placed(&db.store, &volume("w", 4)).await.unwrap();
        for _ in 0..2 {
            settle(&db.store, "v").await;
            forget(&db.store, "v").await;
            release(&db.store, "w").await;
            release(&db.store, "unknown").await;
            forget(&db.store, "unknown").await;
        }
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources), (4, 0, 0));
    }

    async fn back_ends_over_one_physical_pool_share_its_room(db) {
        let (mut a, mut b) = (config("a"), config("b"));
        a.capacity_group = Some("array".to_owned());
        b.capacity_group = Some("array".to_owned());
        up(&db.store, &a, vec![pool("p", 10.0, 10.0)]).await;
        up(&db.store, &b, vec![pool("q", 10.0, 10.0)]).await;
        let on = |backend: &str, id, gib| PlacementRequest { only_backend: Some(format!("stowage@{backend}")), ..volume(id, gib) };
        placed(&db.store, &on("a", "v", 6)).await.unwrap();
        placed(&db.store, &on("b", "w", 5)).await.unwrap_err();
        placed(&db.store, &on("b", "x", 4)).await.unwrap();
        settle(&db.store, "v").await;
        settle(&db.store, "x").await;
        // a's report covers the claims for a's pool; b's still needs them
        report_now(&db.store, "stowage@a", pool("p", 10.0, 0.0)).await;
        assert_eq!(pool_row(&db.store, "stowage@a#p").await.claimed_gib, 0);
        assert_eq!(pool_row(&db.store, "stowage@b#q").await.claimed_gib, 10);
        placed(&db.store, &on("b", "y", 1)).await.unwrap_err();
        report_now(&db.store, "stowage@b", pool("q", 10.0, 0.0)).await;
        assert_eq!(pool_row(&db.store, "stowage@b#q").await.claimed_gib, 0);
    }

    async fn a_back_end_that_joins_a_group_brings_its_claims(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        let mut b = config("b");
        b.capacity_group = Some("array".to_owned());
        up(&db.store, &b, vec![pool("q", 10.0, 10.0)]).await;
        let on_a = PlacementRequest { only_backend: Some("stowage@a".into()), ..volume("v", 6) };
        placed(&db.store, &on_a).await.unwrap();
        let mut a = config("a");
        a.capacity_group = Some("array".to_owned());
        crate::world::configure(&db.store, &a).await;
        assert_eq!(pool_row(&db.store, "stowage@b#q").await.claimed_gib, 6);
        placed(&db.store, &volume("w", 5)).await.unwrap_err();
    }

    async fn a_thin_pool_without_figures_of_its_own_counts_what_we_gave(db) {
        let thin = |free| stowage::scheduler::PoolReport {
            thin: true,
            max_over_subscription: Some(stowage::scheduler::capacity::Ratio::Fixed(2.0)),
            ..pool("p", 10.0, free)
        };
        up(&db.store, &config("a"), vec![thin(10.0)]).await;
        placed(&db.store, &volume("v", 15)).await.unwrap();
        placed(&db.store, &volume("w", 6)).await.unwrap_err();
        settle(&db.store, "v").await;
        report_now(&db.store, "stowage@a", thin(9.0)).await;
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.provisioned_gib), (0, 15.0));
        placed(&db.store, &volume("w", 6)).await.unwrap_err();
        placed(&db.store, &volume("w", 5)).await.unwrap();
        report_now(&db.store, "stowage@a", thin(9.0)).await;
        let row = pool_row(&db.store, P).await;
        assert_eq!((row.claimed_gib, row.provisioned_gib), (5, 15.0), "an open claim is not counted twice");
    }
}
