//! What drivers keep: scoped to a back end, compare-and-swap, quota; a side file on SQLite.

use std::collections::BTreeSet;

use stowage::{
    store::sql::driver_kv::{Expect, KvDelete, KvWrite},
    wasm::host_fn::kv::{Kv, KvError, KvSwap},
};
use support::both_databases;

const ROOM: i64 = 1 << 20;

fn version(w: KvWrite) -> i64 {
    match w {
        KvWrite::Written(v) => v,
        other => panic!("must be written, was {other:?}"),
    }
}

both_databases! {
    async fn a_value_is_read_back_with_its_version(db) {
        let kv = db.store.driver_db().await.unwrap();
        let v = version(kv.kv_put("a", "k", b"one", Expect::Anything, ROOM).await.unwrap());
        let entry = kv.kv_get("a", "k").await.unwrap().unwrap();
        assert_eq!((entry.value.as_slice(), entry.version), (b"one".as_slice(), v));
        assert_eq!(kv.kv_get("a", "other").await.unwrap(), None);
    }

    async fn back_ends_do_not_see_each_other(db) {
        let kv = db.store.driver_db().await.unwrap();
        kv.kv_put("a", "k", b"one", Expect::Anything, ROOM).await.unwrap();
        assert_eq!(kv.kv_get("b", "k").await.unwrap(), None);
        assert!(kv.kv_scan("b", "", "", 10).await.unwrap().is_empty());
        assert_eq!(kv.kv_delete("b", "k", Expect::Anything).await.unwrap(), KvDelete::Nothing);
        kv.kv_forget("b").await.unwrap();
        assert!(kv.kv_get("a", "k").await.unwrap().is_some());
        kv.kv_forget("a").await.unwrap();
        assert_eq!((kv.kv_get("a", "k").await.unwrap(), kv.kv_used("a").await.unwrap()), (None, 0));
    }

    async fn a_write_happens_only_over_what_it_expects(db) {
        let kv = db.store.driver_db().await.unwrap();
        let first = version(kv.kv_put("a", "k", b"one", Expect::Absent, ROOM).await.unwrap());
        for expect in [Expect::Absent, Expect::Version(first + 100)] {
            let KvWrite::Differs(Some(found)) = kv.kv_put("a", "k", b"two", expect, ROOM).await.unwrap() else { panic!("must differ") };
            assert_eq!((found.value.as_slice(), found.version), (b"one".as_slice(), first));
        }
        assert_eq!(kv.kv_put("a", "absent", b"x", Expect::Version(first), ROOM).await.unwrap(), KvWrite::Differs(None));
        let second = version(kv.kv_put("a", "k", b"two", Expect::Version(first), ROOM).await.unwrap());
        assert!(second > first);
        assert_eq!(kv.kv_delete("a", "k", Expect::Version(first)).await.unwrap(), KvDelete::Nothing);
        assert_eq!(kv.kv_delete("a", "k", Expect::Version(second)).await.unwrap(), KvDelete::Deleted);
        let third = version(kv.kv_put("a", "k", b"two", Expect::Absent, ROOM).await.unwrap());
        assert!(third > second, "a version does not come back after a delete");
    }

    async fn of_many_that_swap_at_once_each_counts_once(db) {
        let kv = db.store.driver_db().await.unwrap();
        kv.kv_put("a", "n", b"0", Expect::Absent, ROOM).await.unwrap();
        let add_one = |kv: stowage::store::sql::driver_kv::DriverDb| async move {
            loop {
                let now = kv.kv_get("a", "n").await.unwrap().unwrap();
                let next = String::from_utf8(now.value).unwrap().parse::<u32>().unwrap() + 1;
                match kv.kv_put("a", "n", next.to_string().as_bytes(), Expect::Version(now.version), ROOM).await.unwrap() {
                    KvWrite::Written(_) => return,
                    KvWrite::Differs(_) => {}
                    full @ KvWrite::Full { .. } => panic!("{full:?}"),
                }
            }
        };
        futures::future::join_all((0..20).map(|_| add_one(kv.clone()))).await;
        assert_eq!(kv.kv_get("a", "n").await.unwrap().unwrap().value, b"20");
    }

    async fn a_back_end_holds_no_more_than_it_was_granted(db) {
        let kv = db.store.driver_db().await.unwrap();
        version(kv.kv_put("a", "k", &[0; 60], Expect::Anything, 100).await.unwrap());
        assert_eq!(kv.kv_put("a", "l", &[0; 60], Expect::Anything, 100).await.unwrap(), KvWrite::Full { used: 61, limit: 100 });
        assert_eq!(kv.kv_get("a", "l").await.unwrap(), None);
        version(kv.kv_put("a", "k", &[0; 99], Expect::Anything, 100).await.unwrap());
        assert_eq!(kv.kv_used("a").await.unwrap(), 100);
        version(kv.kv_put("b", "k", &[0; 60], Expect::Anything, 100).await.unwrap());
        version(kv.kv_put("a", "k", &[0; 50], Expect::Anything, 10).await.unwrap()); // what makes room is never refused
        kv.kv_delete("a", "k", Expect::Anything).await.unwrap();
        assert_eq!(kv.kv_used("a").await.unwrap(), 0);
    }

    async fn a_scan_gives_a_prefix_in_byte_order_page_by_page(db) {
        let kv = db.store.driver_db().await.unwrap();
        let keys = ["vol", "vol/", "vol/A", "vol/a", "vol/b", "vol/~", "vol0", "wol/a", "Vol/a", "vol/%", "vol/_"];
        for key in keys {
            kv.kv_put("a", key, key.as_bytes(), Expect::Anything, ROOM).await.unwrap();
        }
        let mut wanted: Vec<&str> = keys.into_iter().filter(|k| k.starts_with("vol/")).collect();
        wanted.sort_unstable();
        let mut got = Vec::new();
        let mut after = String::new();
        loop {
            let page = kv.kv_scan("a", "vol/", &after, 2).await.unwrap();
            let Some(last) = page.last() else { break };
            after = last.key.clone();
            assert!(page.len() <= 2 && page.iter().all(|i| i.value == i.key.as_bytes()));
            got.extend(page.into_iter().map(|i| i.key));
        }
        assert_eq!(got, wanted);
        let all: BTreeSet<String> = kv.kv_scan("a", "", "", 100).await.unwrap().into_iter().map(|i| i.key).collect();
        assert_eq!(all, keys.into_iter().map(str::to_owned).collect());
    }

    async fn values_outlive_the_process(db) {
        let kv = db.store.driver_db().await.unwrap();
        kv.kv_put("a", "k", b"one", Expect::Anything, ROOM).await.unwrap();
        kv.close().await;
        let again = db.store.driver_db().await.unwrap();
        assert_eq!(again.kv_get("a", "k").await.unwrap().unwrap().value, b"one");
    }

    async fn a_driver_meets_its_limits_as_typed_errors(db) {
        let kv = Kv::new(db.store.driver_db().await.unwrap(), "a", 200_000);
        let lease = stowage::jobs::Lease::unbounded();
        assert!(matches!(kv.put(&lease, "", b"x").await, Err(KvError::InvalidKey)));
        assert!(matches!(kv.put(&lease, "caf\u{e9}", b"x").await, Err(KvError::InvalidKey)));
        assert!(matches!(kv.put(&lease, "k", &vec![0; (64 << 10) + 1]).await, Err(KvError::TooLarge(65_536))));
        for key in ["1", "2", "3"] {
            kv.put(&lease, key, &vec![0; 64 << 10]).await.unwrap();
        }
        assert!(matches!(kv.put(&lease, "4", &vec![0; 64 << 10]).await, Err(KvError::Full(200_000))));
        let version = kv.get("1").await.unwrap().unwrap().version;
        assert!(matches!(kv.compare_and_swap(&lease, "1", None, b"x").await.unwrap(), KvSwap::Differs(Some(_))));
        assert!(matches!(kv.compare_and_swap(&lease, "1", Some(version), b"x").await.unwrap(), KvSwap::Swapped(_)));
        let passed = stowage::jobs::Lease::new("w".into(), Some(std::time::Instant::now()));
        assert!(matches!(kv.put(&passed, "1", b"y").await, Err(KvError::NotOwner)));
        lease.lose();
        assert!(matches!(kv.put(&lease, "1", b"y").await, Err(KvError::NotOwner)));
        assert!(matches!(kv.delete(&lease, "1", None).await, Err(KvError::NotOwner)));
        assert_eq!(kv.get("1").await.unwrap().unwrap().value, b"x");
    }
}

#[tokio::test]
async fn on_sqlite_a_drivers_write_does_not_wait_for_the_control_planes_writer() {
    let db = support::db::Db::sqlite().await;
    let kv = db.store.driver_db().await.unwrap();
    let held = db.store.begin().await.unwrap(); // the one writer of the main file is taken
    version(kv.kv_put("a", "k", b"one", Expect::Anything, ROOM).await.unwrap());
    held.rollback().await.unwrap();
}
