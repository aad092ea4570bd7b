//! A driver that keeps failing is left alone; its neighbours do not notice; a better file brings it back.

use serde_json::json;
use stowage::driver::{
    ErrorKind,
    catalog::{BackendState, DriverState},
};

use crate::bench::{Bench, backend, call, exercise, memory, memory_version, volume};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_that_keeps_trapping_is_quarantined_and_comes_back_when_its_file_is_replaced() {
    let traps = json!({"faults": ["volumes.create=trap"]});
    let bench =
        Bench::new(&[("bad", memory()), ("memory", memory())], &[backend("one", "bad", traps), backend("two", "memory", json!({}))]).await;
    let create = || async {
        let backend = bench.backend("one");
        backend.need_volumes().unwrap().create(&call("v"), &volume("v")).await.unwrap_err()
    };
    let mut traps = 0;
    let quarantined = loop {
        let error = create().await;
        match error.kind {
            ErrorKind::Trap => traps += 1,
            _ => break error,
        }
        assert!(traps < 100, "it is never quarantined");
    };
    assert!(traps > 1, "one trap is an accident");
    assert_eq!(quarantined.kind, ErrorKind::Quarantined);
    assert!(quarantined.retry_after.is_some());
    let status = bench.driver("bad");
    assert_eq!(status.state, DriverState::Quarantined);
    assert!(status.reason.unwrap().contains("trap"));
    assert_eq!(bench.backend_status("one").state, BackendState::Quarantined);
    exercise(&bench.catalog, "two", "neighbour").await.unwrap();
    let better = memory_version(1);
    bench.put("bad", &better);
    bench.wait_for("one", &better).await;
    assert_eq!(bench.backend_status("one").state, BackendState::Up);
    assert_eq!(create().await.kind, ErrorKind::Trap, "the fault is in its options; but it is being asked again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_driver_refuses_itself_never_leads_to_quarantine() {
    let refuses = json!({"faults": ["volumes.create=refuse:exhausted"]});
    let bench = Bench::new(&[("memory", memory())], &[backend("one", "memory", refuses)]).await;
    for n in 0..40 {
        let error = bench.backend("one").need_volumes().unwrap().create(&call(&n.to_string()), &volume("v")).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Exhausted);
    }
    assert_eq!(bench.backend_status("one").state, BackendState::Up);
}
