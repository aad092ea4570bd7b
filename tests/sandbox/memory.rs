//! What misdeeds cost the process in memory: while they run no more than was granted, afterwards nothing.

use std::{process::Command, time::Duration};

use futures::future::join_all;
use serde_json::json;
use stowage::config::Grants;

use crate::{
    objects::volume,
    rig::{Rig, call},
};

const MODES: [&str; 12] = [
    "memory",
    "recursion",
    "panic",
    "trap",
    "log-flood",
    "kv-flood",
    "session-flood",
    "lock-flood",
    "error-flood",
    "huge-answer",
    "long-list",
    "forever-pending",
];

/// `VmRSS` or `VmHWM` of this process, in MiB.
fn mib(of: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with(of)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// Every misdeed, eight times side by side.
async fn round(rig: &Rig, memory_mib: u32) {
    for mode in MODES {
        let grants = Grants { memory_mib, kv_mib: 1, call_timeout: Duration::from_secs(2), ..Grants::default() };
        let backend = rig.try_open("h", "hostile", json!({ "mode": mode, "verb": "volumes.create" }), grants).await.unwrap();
        let calls = (0..8).map(|n| {
            let backend = backend.clone();
            async move {
                let _failed = backend.need_volumes().unwrap().create(&call(&format!("op{n}")), &volume(1)).await;
            }
        });
        join_all(calls).await;
        eprintln!("{memory_mib} {mode}: {} MiB, peak {}", mib("VmRSS"), mib("VmHWM"));
    }
}

/// Run by the test below: other tests beside it would count.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "runs in a process of its own"]
async fn misdeeds_in_a_process_of_their_own() {
    let rig = Rig::new().await;
    round(&rig, 64).await;
    let first = mib("VmRSS");
    round(&rig, 64).await;
    round(&rig, 256).await;
    let last = mib("VmRSS");
    assert!(last < first.max(100) + 100, "{first} MiB after the first round, {last} MiB after the last");
}

#[test]
fn misdeeds_leave_the_process_as_small_as_it_was() {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["memory::misdeeds_in_a_process_of_their_own", "--exact", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && String::from_utf8_lossy(&child.stdout).contains("1 passed"), "{said}");
}
