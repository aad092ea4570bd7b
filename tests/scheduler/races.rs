//! However many place at once, and in whatever order things end: a pool is never given more than it has, and its
//! figures are always the sums of their rows.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IteratorRandom};
use stowage::{
    scheduler::{NoValidBackend, Operation, Placed, PlacementRequest},
    store::Store,
};
use support::both_databases;

use crate::world::{config, forget, placed, pool, pool_row, release, report_now, settle, up, volume};

async fn all_at_once(store: &Store, requests: Vec<PlacementRequest>) -> Vec<Result<Placed, NoValidBackend>> {
    let tasks = requests.into_iter().map(|request| {
        let store = store.clone();
        tokio::spawn(async move { placed(&store, &request).await })
    });
    join_all(tasks).await.into_iter().map(Result::unwrap).collect()
}

both_databases! {
    async fn of_a_hundred_at_once_sixty_fit_into_sixty(db) {
        up(&db.store, &config("a"), vec![pool("p", 60.0, 60.0)]).await;
        let answers = all_at_once(&db.store, (0..100).map(|n| volume(&format!("v{n}"), 1)).collect()).await;
        assert_eq!(answers.iter().filter(|a| a.is_ok()).count(), 60);
        let row = pool_row(&db.store, "stowage@a#p").await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources), (60, 60, 60));
        let refused = answers.into_iter().find_map(Result::err).unwrap();
        assert_eq!(refused.rejections.len(), 1);
    }

    async fn a_pool_that_filled_meanwhile_gives_way_to_the_next_best(db) {
        up(&db.store, &config("a"), vec![pool("p", 30.0, 30.0), pool("q", 29.0, 29.0), pool("r", 28.0, 28.0)]).await;
        let answers = all_at_once(&db.store, (0..100).map(|n| volume(&format!("v{n}"), 1)).collect()).await;
        assert_eq!(answers.iter().filter(|a| a.is_ok()).count(), 87);
        for (name, gib) in [("p", 30), ("q", 29), ("r", 28)] {
            assert_eq!(pool_row(&db.store, &format!("stowage@a#{name}")).await.allocated_gib, gib);
        }
    }

    async fn two_back_ends_over_one_physical_pool_share_it_under_load(db) {
        for name in ["a", "b"] {
            let mut config = config(name);
            config.capacity_group = Some("array".to_owned());
            up(&db.store, &config, vec![pool("p", 40.0, 40.0)]).await;
        }
        let on = |n: usize| PlacementRequest {
            only_backend: Some(format!("stowage@{}", ["a", "b"][n % 2])),
            ..volume(&format!("v{n}"), 1)
        };
        let answers = all_at_once(&db.store, (0..60).map(on).collect()).await;
        assert_eq!(answers.iter().filter(|a| a.is_ok()).count(), 40);
    }

    async fn figures_stay_true_through_any_order_of_endings(db) {
        let seed = 20_26_11_30;
        let mut rng = StdRng::seed_from_u64(seed);
        // the array's truth: what exists there
        let mut there: BTreeMap<String, i64> = BTreeMap::new();
        let (mut open, mut settled): (BTreeMap<String, i64>, BTreeSet<String>) = (BTreeMap::new(), BTreeSet::new());
        up(&db.store, &config("a"), vec![pool("p", 50.0, 50.0)]).await;
        let rounds = if db.is_postgres() { 150 } else { 300 };
        for n in 0..rounds {
            match rng.random_range(0..6) {
                0 | 1 => {
                    let (id, gib) = (format!("v{n}"), rng.random_range(1..12));
                    if placed(&db.store, &volume(&id, gib)).await.is_ok() {
                        open.insert(id, gib);
                    }
                }
                2 => if let Some(id) = open.keys().choose(&mut rng).cloned() {
                    let gib = open.remove(&id).unwrap();
                    there.insert(id.clone(), gib);
                    settle(&db.store, &id).await;
                    settled.insert(id);
                },
                3 => if let Some(id) = open.keys().choose(&mut rng).cloned() {
                    open.remove(&id);
                    release(&db.store, &id).await;
                },
                4 => if let Some(id) = settled.iter().choose(&mut rng).cloned() {
                    settled.remove(&id);
                    there.remove(&id);
                    forget(&db.store, &id).await;
                },
                _ => {
                    let used: i64 = there.values().sum();
                    report_now(&db.store, "stowage@a", pool("p", 50.0, f64::from(50 - i32::try_from(used).unwrap()))).await;
                }
            }
            let given: i64 = there.values().chain(open.values()).sum();
            assert!(given <= 50, "seed {seed}, round {n}: {given} GiB given of 50");
            let row = pool_row(&db.store, "stowage@a#p").await;
            assert_eq!(row.allocated_gib, given, "seed {seed}, round {n}");
            assert_eq!(row.resources, i64::try_from(there.len() + open.len()).unwrap(), "seed {seed}, round {n}");
            assert!(row.claimed_gib >= open.values().sum::<i64>(), "seed {seed}, round {n}");
        }
        // once all is quiet, a report makes the whole room usable
        for id in settled {
            forget(&db.store, &id).await;
        }
        for id in open.keys() {
            release(&db.store, id).await;
        }
        report_now(&db.store, "stowage@a", pool("p", 50.0, 50.0)).await;
        let row = pool_row(&db.store, "stowage@a#p").await;
        assert_eq!((row.claimed_gib, row.allocated_gib, row.resources, row.provisioned_gib), (0, 0, 0, 0.0));
        placed(&db.store, &volume("last", 50)).await.unwrap();
    }

    async fn reports_and_placements_at_once_never_give_room_twice(db) {
        up(&db.store, &config("a"), vec![pool("p", 40.0, 40.0)]).await;
        let reporter = {
            let store = db.store.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    // the array itself stays empty: every claim is open
                    report_now(&store, "stowage@a", pool("p", 40.0, 40.0)).await;
                }
            })
        };
        let grow = |n: usize| PlacementRequest { operation: Operation::Create, ..volume(&format!("v{n}"), 1) };
        let answers = all_at_once(&db.store, (0..80).map(grow).collect()).await;
        reporter.await.unwrap();
        assert_eq!(answers.iter().filter(|a| a.is_ok()).count(), 40);
        assert_eq!(pool_row(&db.store, "stowage@a#p").await.claimed_gib, 40);
    }

    async fn reports_deletes_and_failures_at_once_do_not_wait_for_each_other_in_a_circle(db) {
        const VOLUMES: usize = 60;
        up(&db.store, &config("a"), vec![pool("p", 100.0, 100.0), pool("q", 100.0, 100.0)]).await;
        for n in 0..VOLUMES {
            placed(&db.store, &volume(&format!("v{n}"), 1)).await.unwrap();
            if n % 2 == 0 {
                settle(&db.store, &format!("v{n}")).await;
            }
        }
        let reporter = {
            let store = db.store.clone();
            tokio::spawn(async move {
                for _ in 0..40 {
                    let began_at = store.now().await.unwrap();
                    let pools = vec![pool("p", 100.0, 100.0), pool("q", 100.0, 100.0)];
                    crate::world::store_report(&store, &crate::world::report("stowage@a", began_at, pools)).await;
                }
            })
        };
        let endings = (0..VOLUMES).map(|n| {
            let store = db.store.clone();
            tokio::spawn(async move {
                let id = format!("v{n}");
                if n % 2 == 0 { forget(&store, &id).await } else { release(&store, &id).await }
            })
        });
        for ending in join_all(endings).await {
            ending.unwrap();
        }
        reporter.await.unwrap();
        for name in ["p", "q"] {
            let row = pool_row(&db.store, &format!("stowage@a#{name}")).await;
            assert_eq!((row.allocated_gib, row.resources), (0, 0));
        }
    }
}
