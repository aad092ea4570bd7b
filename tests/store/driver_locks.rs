//! Locks that drivers take: leases in the database, one holder at a time, given back when the call ends.

use std::time::Duration;

use stowage::{
    store::sql::driver_kv::DriverDb,
    wasm::host_fn::lock::{CallLocks, LockError},
};
use support::{both_databases, wait};
use tokio::time::Instant;

const LONG: i64 = 60_000_000;

fn locks(db: &DriverDb, owner: &str) -> CallLocks {
    CallLocks::new(db.clone(), "a", owner, stowage::jobs::Lease::unbounded())
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

both_databases! {
    async fn a_lock_has_one_holder(db) {
        let locks = db.store.driver_db().await.unwrap();
        assert!(locks.lock_acquire("a", "l", "one", LONG).await.unwrap());
        assert!(!locks.lock_acquire("a", "l", "two", LONG).await.unwrap());
        assert!(locks.lock_acquire("a", "l", "one", LONG).await.unwrap(), "its holder renews it");
        assert!(locks.lock_acquire("b", "l", "two", LONG).await.unwrap(), "another back end's lock is another lock");
        locks.lock_release("a", "l", "two").await.unwrap();
        assert!(locks.lock_held("a", "l", "one").await.unwrap(), "only its holder gives it back");
        locks.lock_release("a", "l", "one").await.unwrap();
        assert!(locks.lock_acquire("a", "l", "two", LONG).await.unwrap());
    }

    async fn a_lease_that_ran_out_is_free(db) {
        let locks = db.store.driver_db().await.unwrap();
        assert!(locks.lock_acquire("a", "l", "dead", 0).await.unwrap());
        assert!(!locks.lock_held("a", "l", "dead").await.unwrap());
        assert!(locks.lock_acquire("a", "l", "alive", LONG).await.unwrap());
        assert!(!locks.lock_acquire("a", "l", "dead", LONG).await.unwrap());
    }

    async fn of_many_that_want_a_lock_at_once_one_gets_it(db) {
        let locks = db.store.driver_db().await.unwrap();
        let owners: Vec<String> = (0..16).map(|n| n.to_string()).collect();
        let took = futures::future::join_all(owners.iter().map(|o| locks.lock_acquire("a", "l", o, LONG))).await;
        assert_eq!(took.into_iter().filter(|t| *t.as_ref().unwrap()).count(), 1);
    }

    async fn a_call_waits_for_a_lock_and_gets_it_when_it_is_released(db) {
        let db = db.store.driver_db().await.unwrap();
        let (first, second) = (locks(&db, "one"), locks(&db, "two"));
        first.acquire("l", Duration::ZERO, later()).await.unwrap();
        assert!(matches!(second.acquire("l", Duration::from_millis(30), later()).await, Err(LockError::Timeout)));
        assert!(matches!(second.acquire("l", Duration::from_secs(60), Instant::now()).await, Err(LockError::Timeout)), "never past the deadline");
        let (taken, ()) = futures::join!(second.acquire("l", Duration::from_secs(60), later()), first.release("l"));
        taken.unwrap();
        assert!(db.lock_held("a", "l", "two").await.unwrap());
    }

    async fn what_a_call_holds_is_given_back_when_it_ends(db) {
        let db = db.store.driver_db().await.unwrap();
        let call = locks(&db, "one");
        call.acquire("l", Duration::ZERO, later()).await.unwrap();
        call.acquire("m", Duration::ZERO, later()).await.unwrap();
        drop(call);
        for name in ["l", "m"] {
            wait::until("the locks are free", || async { (!db.lock_held("a", name, "one").await.unwrap()).then_some(()) }).await;
        }
    }

    async fn a_call_meets_its_limits_as_typed_errors(db) {
        let db = db.store.driver_db().await.unwrap();
        let lease = stowage::jobs::Lease::unbounded();
        let call = CallLocks::new(db.clone(), "a", "one", lease.clone());
        assert!(matches!(call.acquire("", Duration::ZERO, later()).await, Err(LockError::InvalidName)));
        for n in 0..16 {
            call.acquire(&n.to_string(), Duration::ZERO, later()).await.unwrap();
        }
        assert!(matches!(call.acquire("0", Duration::ZERO, later()).await, Err(LockError::Held)));
        assert!(matches!(call.acquire("16", Duration::ZERO, later()).await, Err(LockError::TooMany)));
        call.release("0").await;
        call.acquire("16", Duration::ZERO, later()).await.unwrap();
        let passed = stowage::jobs::Lease::new("w".into(), Some(std::time::Instant::now()));
        let late = CallLocks::new(db.clone(), "a", "late", passed);
        assert!(matches!(late.acquire("late", Duration::ZERO, later()).await, Err(LockError::NotOwner)));
        lease.lose();
        assert!(matches!(call.acquire("17", Duration::ZERO, later()).await, Err(LockError::NotOwner)));
    }
}
