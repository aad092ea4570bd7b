use std::collections::BTreeMap;

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use stowage::{
    error::Kind,
    quota::{Counted, QuotaDelta, QuotaError},
    store::Store,
};
use support::both_databases;

async fn change(store: &Store, deltas: &[QuotaDelta]) -> Result<(), QuotaError> {
    let mut tx = store.begin().await?;
    tx.quota_change(deltas).await?;
    tx.commit().await?;
    Ok(())
}

fn volumes(project: &str, amount: i64) -> QuotaDelta {
    QuotaDelta::project(project, "volumes", amount)
}

async fn used(store: &Store, project: &str, resource: &str) -> i64 {
    store.quota_usage(project).await.unwrap().into_iter().find(|u| u.resource == resource).map_or(0, |u| u.used)
}

async fn limit(store: &Store, project: &str, resource: &str, amount: i64) {
    let mut tx = store.begin().await.unwrap();
    tx.set_quota_limit(project, resource, amount).await.unwrap();
    tx.commit().await.unwrap();
}

both_databases! {
    async fn a_change_up_to_the_limit_is_made_and_one_past_it_is_refused_with_the_figures(db) {
        change(&db.store, &[volumes("p1", 10)]).await.unwrap();
        let refusal = change(&db.store, &[volumes("p1", 1)]).await.unwrap_err();
        assert!(matches!(&refusal, QuotaError::Exceeded { resource, limit: 10, used: 10, asked: 1 } if resource == "volumes"), "{refusal:?}");
        let error = stowage::error::Error::from(refusal);
        assert!(error.kind == Kind::OverLimit && error.message.contains("exceed"), "{error:?}");
        assert_eq!(used(&db.store, "p1", "volumes").await, 10);
        change(&db.store, &[volumes("p2", 1)]).await.expect("another project has its own");
    }

    async fn a_refusal_of_one_resource_leaves_the_others_as_they_were(db) {
        let asked = [volumes("p1", 1), QuotaDelta::project("p1", "gigabytes", 1001)];
        let refusal = change(&db.store, &asked).await.unwrap_err();
        assert!(matches!(&refusal, QuotaError::Exceeded { resource, limit: 1000, used: 0, asked: 1001 } if resource == "gigabytes"), "{refusal:?}");
        assert_eq!(used(&db.store, "p1", "volumes").await, 0);
    }

    async fn giving_back_is_never_refused_even_over_the_limit(db) {
        change(&db.store, &[volumes("p1", 8)]).await.unwrap();
        limit(&db.store, "p1", "volumes", 3).await;
        assert!(change(&db.store, &[volumes("p1", 1)]).await.is_err());
        change(&db.store, &[volumes("p1", -1)]).await.unwrap();
        assert_eq!(used(&db.store, "p1", "volumes").await, 7);
    }

    async fn the_projects_limit_wins_over_the_class_and_the_class_over_the_built_in_one(db) {
        assert_eq!(db.store.quota_limit("p1", "volumes").await.unwrap(), 10);
        let mut tx = db.store.begin().await.unwrap();
        tx.set_quota_class_limit("default", "volumes", 20).await.unwrap();
        tx.set_quota_class_limit("other", "volumes", 99).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(db.store.quota_limit("p1", "volumes").await.unwrap(), 20);
        limit(&db.store, "p1", "volumes", 30).await;
        limit(&db.store, "p1", "volumes", 31).await;
        assert_eq!(db.store.quota_limit("p1", "volumes").await.unwrap(), 31);
        assert_eq!(db.store.quota_limit("p2", "volumes").await.unwrap(), 20);
        change(&db.store, &[volumes("p1", 31)]).await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        tx.delete_quota_limits("p1").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(db.store.quota_limit("p1", "volumes").await.unwrap(), 20);
    }

    async fn minus_one_and_per_type_resources_are_unlimited(db) {
        limit(&db.store, "p1", "volumes", -1).await;
        change(&db.store, &[volumes("p1", 5000), QuotaDelta::project("p1", "gigabytes_fast", 1_000_000)]).await.unwrap();
        assert_eq!(db.store.quota_limit("p1", "per_volume_gigabytes").await.unwrap(), -1);
        let refusal = {
            limit(&db.store, "p1", "gigabytes_fast", 5).await;
            change(&db.store, &[QuotaDelta::project("p1", "gigabytes_fast", 1)]).await.unwrap_err()
        };
        assert!(matches!(refusal, QuotaError::Exceeded { limit: 5, used: 1_000_000, .. }), "{refusal:?}");
    }

    async fn a_limit_of_zero_refuses_the_first(db) {
        limit(&db.store, "p1", "volumes", 0).await;
        let refusal = change(&db.store, &[volumes("p1", 1)]).await.unwrap_err();
        assert!(matches!(refusal, QuotaError::Exceeded { limit: 0, used: 0, asked: 1, .. }), "{refusal:?}");
    }

    async fn a_change_of_nothing_is_nothing(db) {
        limit(&db.store, "p1", "volumes", 0).await;
        change(&db.store, &[volumes("p1", 0)]).await.unwrap();
        change(&db.store, &[]).await.unwrap();
    }

    async fn users_and_types_have_figures_of_their_own(db) {
        let of = |user: &str, kind: &str| QuotaDelta { user_id: user.into(), type_id: kind.into(), ..volumes("p1", 10) };
        for d in [of("", ""), of("u1", ""), of("", "t1"), of("u1", "t1")] {
            change(&db.store, &[d]).await.unwrap();
        }
        assert_eq!(used(&db.store, "p1", "volumes").await, 10);
    }

    async fn a_hundred_at_once_reach_exactly_the_limit(db) {
        limit(&db.store, "p1", "volumes", 37).await;
        let tasks: Vec<_> = (0..100).map(|_| {
            let store = db.store.clone();
            tokio::spawn(async move { change(&store, &[volumes("p1", 1), QuotaDelta::project("p1", "gigabytes", 2)]).await })
        }).collect();
        let mut made = 0;
        for t in tasks {
            match t.await.unwrap() {
                Ok(()) => made += 1,
                Err(QuotaError::Exceeded { limit: 37, used: 37, .. }) => {}
                Err(e) => panic!("neither made nor refused: {e}"),
            }
        }
        assert_eq!(made, 37);
        assert_eq!((used(&db.store, "p1", "volumes").await, used(&db.store, "p1", "gigabytes").await), (37, 74));
    }

    async fn first_changes_of_new_projects_at_once_all_succeed(db) {
        let tasks: Vec<_> = (0..40).map(|n| {
            let store = db.store.clone();
            tokio::spawn(async move { change(&store, &[volumes(&format!("p{}", n % 10), 1)]).await })
        }).collect();
        for t in tasks {
            t.await.unwrap().unwrap();
        }
        assert_eq!(used(&db.store, "p3", "volumes").await, 4);
    }

    async fn the_check_finds_and_repairs_a_drift(db) {
        change(&db.store, &[volumes("p1", 3)]).await.unwrap();
        let counted = |n| [Counted { project_id: "p1".into(), resource: "volumes".into(), amount: n, ..Counted::default() }];
        let mut tx = db.store.begin().await.unwrap();
        tx.lock_quota().await.unwrap();
        assert_eq!(tx.quota_check(&counted(3), |_| true, false).await.unwrap(), []);
        let [drift] = &tx.quota_check(&counted(2), |_| true, true).await.unwrap()[..] else { panic!("one drift") };
        assert_eq!((drift.recorded, drift.counted), (3, 2));
        assert_eq!(tx.quota_check(&counted(2), |_| true, false).await.unwrap(), []);
        tx.commit().await.unwrap();
        assert_eq!(used(&db.store, "p1", "volumes").await, 2);
    }

    /// Any sequence of changes, some refused, some rolled back, leaves the figures equal to what was accepted.
    async fn figures_equal_what_was_accepted_after_any_sequence(db) {
        let step = (0..3usize, prop::collection::vec((0..3usize, -4i64..6), 1..4), prop::bool::weighted(0.2));
        let strategy = prop::collection::vec(step, 1..60);
        let mut runner = TestRunner::deterministic();
        let resources = ["volumes", "snapshots", "gigabytes_t"];
        for case in 0..8 {
            let steps = strategy.new_tree(&mut runner).unwrap().current();
            let mut model: BTreeMap<(String, &str), i64> = BTreeMap::new();
            for (project, changes, roll_back) in steps {
                let project = format!("case{case}-p{project}");
                // never below zero: nothing is given back that was not taken
                let mut deltas: Vec<QuotaDelta> = Vec::new();
                for (r, amount) in changes {
                    let have = model.get(&(project.clone(), resources[r])).copied().unwrap_or(0);
                    if !deltas.iter().any(|d| d.resource == resources[r]) {
                        deltas.push(QuotaDelta::project(&project, resources[r], amount.max(-have)));
                    }
                }
                let mut tx = db.store.begin().await.unwrap();
                match tx.quota_change(&deltas).await {
                    Ok(()) if !roll_back => {
                        tx.commit().await.unwrap();
                        for d in deltas {
                            let resource = resources.iter().find(|r| **r == d.resource).unwrap();
                            *model.entry((project.clone(), resource)).or_default() += d.amount;
                        }
                    }
                    Ok(()) => tx.rollback().await.unwrap(),
                    Err(QuotaError::Exceeded { resource, limit, used, asked }) => {
                        assert_eq!(model.get(&(project.clone(), resources.iter().find(|r| **r == resource).unwrap())).copied().unwrap_or(0), used);
                        assert!(used + asked > limit);
                        tx.rollback().await.unwrap();
                    }
                    Err(e) => panic!("{e}"),
                }
            }
            let counted: Vec<_> = model.iter().map(|((p, r), n)| Counted { project_id: p.clone(), resource: (*r).into(), amount: *n, ..Counted::default() }).collect();
            let prefix = format!("case{case}-");
            let mut tx = db.store.begin().await.unwrap();
            let drift = tx.quota_check(&counted, |_| true, false).await.unwrap();
            assert_eq!(drift.into_iter().filter(|d| d.project_id.starts_with(&prefix)).collect::<Vec<_>>(), []);
        }
    }
}
