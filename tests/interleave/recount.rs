//! The operator's check of the quota.

use support::Process;

/// Ends every service in good order, has the operator's command recompute the quota from the rows, and starts them again.
pub async fn recount(services: &mut [Process]) -> Vec<String> {
    for service in &mut *services {
        assert!(service.terminate().await.success());
    }
    let out = services[0].command().args(["manage", "quota", "check"]).output().unwrap();
    for service in &mut *services {
        service.restart().await;
    }
    if out.status.success() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&out.stdout);
    text.lines().chain(["the check ended badly"]).map(|line| format!("[wrong-usage] {line}")).collect()
}
