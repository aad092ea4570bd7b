//! One hostile driver affects its own back end only.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use stowage::driver::{Call, ErrorKind};

use crate::{
    objects::volume,
    rig::{Rig, call},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_hostile_driver_runs_the_calls_of_another_back_end_meet_their_deadlines() {
    let rig = Rig::new().await;
    for mode in ["loop", "memory", "recursion", "sleep", "log-flood"] {
        let hostile = rig.hostile("bad", mode, "volumes.create").await;
        let good = rig.memory("good", json!({})).await;
        let over = Arc::new(AtomicBool::new(false));
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let (hostile, over) = (hostile.clone(), over.clone());
                tokio::spawn(async move {
                    let mut failures = 0;
                    while !over.load(Ordering::SeqCst) {
                        let outcome = hostile.need_volumes().unwrap().create(&call("bad"), &volume(1)).await;
                        failures += u32::from(outcome.is_err_and(|e| e.kind != ErrorKind::Quarantined));
                        tokio::task::yield_now().await;
                    }
                    failures
                })
            })
            .collect();
        while hostile.gate.in_flight() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for n in 0..25 {
            let call = Call::internal(format!("{mode}-{n}"), Duration::from_secs(30));
            let volumes = good.need_volumes().unwrap();
            let v = volume(1);
            volumes.create(&call, &v).await.unwrap_or_else(|e| panic!("beside {mode}: {e}"));
            volumes.delete(&call, &v).await.unwrap_or_else(|e| panic!("beside {mode}: {e}"));
        }
        over.store(true, Ordering::SeqCst);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(good.gate.quarantine(), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_driver_keeps_is_seen_by_its_own_back_end_only() {
    let rig = Rig::new().await;
    let (a, b) = (rig.memory("a", json!({})).await, rig.memory("b", json!({})).await);
    let v = volume(3);
    a.need_volumes().unwrap().create(&call("op"), &v).await.unwrap();
    let provisioned = |backend: Arc<stowage::driver::Backend>| async move {
        backend.refresh(&call("report")).await.unwrap().report.pools[0].provisioned_gib
    };
    assert_eq!(provisioned(a).await, Some(3.0));
    assert_eq!(provisioned(b).await, Some(0.0));
}
