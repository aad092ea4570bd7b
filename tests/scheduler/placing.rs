//! Placing in a transaction: what the caller gets, and what is kept of the decision.

use serde_json::json;
use stowage::scheduler::{Explanation, Hints, Limit, PlacementRequest};
use support::both_databases;

use crate::world::{config, configure, placed, pool, specs, up, volume};

fn explanation(detail: &str) -> Explanation {
    serde_json::from_str(detail).unwrap()
}

both_databases! {
    async fn the_best_pool_is_named_with_what_users_see_of_its_back_end(db) {
        let mut a = config("a");
        a.backend_id = Some("array-7".to_owned());
        up(&db.store, &a, vec![pool("small", 10.0, 10.0), pool("large", 50.0, 50.0)]).await;
        let won = placed(&db.store, &volume("v", 1)).await.unwrap();
        assert_eq!((won.host.as_str(), won.backend.as_str(), won.pool.as_str()), ("stowage@a#large", "stowage@a", "large"));
        assert_eq!(won.backend_name, "array-7");
        assert!(uuid::Uuid::parse_str(&won.service_uuid).is_ok());
        assert_eq!(won.shared_targets, Some(true));
    }

    async fn a_placement_keeps_every_pools_weight_or_reason(db) {
        up(&db.store, &config("a"), vec![pool("p", 100.0, 100.0)]).await;
        up(&db.store, &config("b"), vec![pool("p", 5.0, 5.0)]).await;
        placed(&db.store, &volume("v", 10)).await.unwrap();
        let kept = db.store.placements("v").await.unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].pool.as_deref(), Some("stowage@a#p"));
        assert_eq!(kept[0].limit_kind, None);
        let told = explanation(&kept[0].detail);
        assert_eq!(told.chosen.as_deref(), Some("stowage@a#p"));
        assert_eq!(told.ranked[0].raw["CapacityWeigher"], json!(100));
        assert_eq!(told.rejected[0].pool, "stowage@b#p");
        assert_eq!(told.rejected[0].numbers["room_gib"], json!(5));
    }

    async fn a_refusal_has_a_reason_for_every_pool_and_names_the_kind_of_limit(db) {
        up(&db.store, &config("a"), vec![pool("p", 5.0, 5.0)]).await;
        up(&db.store, &config("b"), vec![pool("p", 6.0, 6.0)]).await;
        configure(&db.store, &config("silent")).await;
        let no = placed(&db.store, &volume("v", 10)).await.unwrap_err();
        assert_eq!(no.limit, Limit::Capacity);
        assert_eq!(no.rejections.len(), 2);
        assert_eq!(no.to_string(), "No valid backend was found. No storage back end has enough free capacity.");
        let kept = db.store.placements("v").await.unwrap();
        assert_eq!(kept[0].limit_kind.as_deref(), Some("capacity"));
        assert_eq!(explanation(&kept[0].detail).rejected, no.rejections);
    }

    async fn before_the_first_report_waiting_helps(db) {
        configure(&db.store, &config("a")).await;
        let no = placed(&db.store, &volume("v", 1)).await.unwrap_err();
        assert_eq!(no.limit, Limit::NoBackend);
        assert!(no.worth_waiting());
    }

    async fn waiting_does_not_help_without_back_ends_or_when_they_are_known_to_be_down(db) {
        assert!(!placed(&db.store, &volume("v", 1)).await.unwrap_err().worth_waiting());
        configure(&db.store, &config("a")).await;
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.mark_backend_down("stowage@a", "log-in refused", i64::MAX, 0).await.unwrap());
        tx.commit().await.unwrap();
        assert!(!placed(&db.store, &volume("v", 1)).await.unwrap_err().worth_waiting());
        up(&db.store, &config("b"), vec![pool("p", 1.0, 1.0)]).await;
        assert!(!placed(&db.store, &volume("v", 5)).await.unwrap_err().worth_waiting());
    }

    async fn a_rolled_back_placement_leaves_nothing(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        let mut tx = db.store.begin().await.unwrap();
        stowage::scheduler::place(&mut tx, &volume("v", 10)).await.unwrap().unwrap();
        tx.rollback().await.unwrap();
        assert_eq!(db.store.allocation("v").await.unwrap(), None);
        assert!(db.store.placements("v").await.unwrap().is_empty());
        placed(&db.store, &volume("w", 10)).await.unwrap();
    }

    async fn placing_again_gives_the_earlier_room_back(db) {
        up(&db.store, &config("a"), vec![pool("p", 10.0, 10.0)]).await;
        placed(&db.store, &volume("v", 10)).await.unwrap();
        placed(&db.store, &volume("v", 10)).await.unwrap();
        let kept = db.store.allocation("v").await.unwrap().unwrap();
        assert_eq!((kept.pool.as_str(), kept.gib), ("stowage@a#p", 10));
    }

    async fn a_pool_given_up_keeps_its_claim_while_something_may_be_there(db) {
        up(&db.store, &config("a"), vec![pool("p", 20.0, 20.0)]).await;
        up(&db.store, &config("b"), vec![pool("p", 10.0, 10.0)]).await;
        let first = placed(&db.store, &volume("v", 10)).await.unwrap();
        assert_eq!(first.host, "stowage@a#p");
        let again = PlacementRequest { exclude_pools: vec![first.host], ..volume("v", 10) };
        assert_eq!(placed(&db.store, &again).await.unwrap().host, "stowage@b#p");
        let a = crate::world::pool_row(&db.store, "stowage@a#p").await;
        assert_eq!((a.claimed_gib, a.allocated_gib, a.resources), (10, 0, 0));
        let b = crate::world::pool_row(&db.store, "stowage@b#p").await;
        assert_eq!((b.claimed_gib, b.allocated_gib, b.resources), (10, 10, 1));
    }

    async fn hinted_resources_are_found_where_they_lie(db) {
        up(&db.store, &config("a"), vec![pool("p", 100.0, 100.0)]).await;
        up(&db.store, &config("b"), vec![pool("p", 50.0, 50.0)]).await;
        let id = uuid::Uuid::new_v4().to_string();
        assert_eq!(placed(&db.store, &volume(&id, 1)).await.unwrap().backend, "stowage@a");
        let apart = PlacementRequest { hints: Hints { different_host: vec![id.clone()], ..Hints::default() }, ..volume("v", 1) };
        assert_eq!(placed(&db.store, &apart).await.unwrap().backend, "stowage@b");
        let together = PlacementRequest { hints: Hints { same_host: vec!["v".into()], ..Hints::default() }, ..volume("w", 1) };
        assert_eq!(placed(&db.store, &together).await.unwrap().backend, "stowage@b");
    }

    async fn the_newest_few_decisions_of_a_resource_are_kept(db) {
        up(&db.store, &config("a"), vec![pool("p", 1.0, 1.0)]).await;
        for gib in 2..14 {
            placed(&db.store, &volume("v", gib)).await.unwrap_err();
        }
        let kept = db.store.placements("v").await.unwrap();
        assert_eq!(kept.len(), 8);
        assert_eq!(kept[0].size_gib, 13);
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.purge_placements(i64::MAX, 1000).await.unwrap() <= 12);
        tx.commit().await.unwrap();
        assert!(db.store.placements("v").await.unwrap().is_empty());
    }

    async fn a_spec_that_no_pool_has_is_refused_with_the_capabilities_limit(db) {
        up(&db.store, &config("a"), vec![pool("p", 100.0, 100.0)]).await;
        let odd = PlacementRequest { extra_specs: specs([("no_such_thing", "<or>")]), ..volume("v", 1) };
        assert_eq!(placed(&db.store, &odd).await.unwrap_err().limit, Limit::Capabilities);
    }
}
