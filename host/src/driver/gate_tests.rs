use super::*;
use crate::jobs::Lease;

fn gate(limit: usize) -> Arc<Gate> {
    Gate::with_policy(
        "stowage@a",
        limit,
        HealthPolicy { failures: 3, first_pause: Duration::from_millis(50), longest_pause: Duration::from_millis(400) },
    )
}

fn call() -> Call {
    Call::internal("test", Duration::from_secs(10))
}

fn trap() -> DriverResult<()> {
    Err(DriverError::new(ErrorKind::Trap, "unreachable"))
}

async fn make(gate: &Arc<Gate>, result: DriverResult<()>) -> DriverResult<()> {
    gate.enter(&call()).await?.ended(&result);
    result
}

async fn quarantined(gate: &Arc<Gate>) -> bool {
    gate.enter(&call()).await.is_err_and(|e| e.kind == ErrorKind::Quarantined)
}

async fn pause_over(gate: &Arc<Gate>) {
    while !gate.wants_probe() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn no_more_calls_at_once_than_granted() {
    let gate = gate(2);
    let (first, second) = (gate.enter(&call()).await.unwrap(), gate.enter(&call()).await.unwrap());
    let late = gate.enter(&Call::internal("late", Duration::from_millis(20))).await;
    assert_eq!(late.err().map(|e| e.kind), Some(ErrorKind::Saturated));
    drop(first);
    assert!(gate.enter(&call()).await.is_ok());
    drop(second);
    gate.drained().await;
    assert_eq!(gate.in_flight(), 0);
}

#[tokio::test]
async fn a_call_whose_lease_is_gone_does_not_wait_for_a_turn() {
    let gate = gate(1);
    let _busy = gate.enter(&call()).await.unwrap();
    // its time has passed, and nobody has noticed yet
    let lease = Lease::new("w".into(), Some(Instant::now()));
    let lost = gate.enter(&Call::new("op", 1, "req", Duration::from_secs(3600), lease)).await;
    assert_eq!(lost.err().map(|e| e.kind), Some(ErrorKind::LeaseLost));
}

#[tokio::test]
async fn draining_waits_for_the_last_call() {
    let gate = gate(4);
    let running = gate.enter(&call()).await.unwrap();
    let waiting = tokio::spawn({
        let gate = gate.clone();
        async move { gate.drained().await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    running.ended(&Ok(()));
    waiting.await.unwrap();
}

#[tokio::test]
async fn misbehaviour_in_a_row_leads_to_quarantine_with_its_reason() {
    let gate = gate(4);
    for _ in 0..3 {
        assert!(!quarantined(&gate).await);
        let _trapped = make(&gate, trap()).await;
    }
    assert!(quarantined(&gate).await);
    assert_eq!(gate.quarantine().unwrap().reason, "3 calls in a row failed, the last with trap: unreachable");
}

#[tokio::test]
async fn what_the_driver_says_itself_is_no_misbehaviour() {
    let gate = gate(4);
    for n in 0..20 {
        let result = if n % 3 == 2 { Err(DriverError::new(ErrorKind::Exhausted, "full")) } else { trap() };
        let _failed = make(&gate, result).await;
    }
    assert!(!quarantined(&gate).await);
}

#[tokio::test]
async fn a_caller_without_patience_is_not_the_drivers_fault() {
    let gate = gate(4);
    for _ in 0..20 {
        let _late = make(&gate, Err(DriverError::new(ErrorKind::Deadline, "too late"))).await;
    }
    assert!(!quarantined(&gate).await);
}

#[tokio::test]
async fn after_the_pause_one_good_call_lifts_the_quarantine() {
    let gate = gate(4);
    for _ in 0..3 {
        let _trapped = make(&gate, trap()).await;
    }
    pause_over(&gate).await;
    let probe = gate.enter(&call()).await.unwrap();
    assert!(quarantined(&gate).await, "only one call is let through");
    probe.ended(&Ok(()));
    assert!(!quarantined(&gate).await);
    assert_eq!(gate.quarantine(), None);
}

#[tokio::test]
async fn a_bad_probe_prolongs_it_and_an_abandoned_one_leaves_the_next_its_chance() {
    let gate = gate(4);
    for _ in 0..3 {
        let _trapped = make(&gate, trap()).await;
    }
    let since = gate.quarantine().unwrap().since;
    pause_over(&gate).await;
    let begun = Instant::now();
    let _trapped = make(&gate, trap()).await;
    assert!(quarantined(&gate).await);
    pause_over(&gate).await;
    assert!(begun.elapsed() >= Duration::from_millis(100), "the second pause is twice the first");
    assert_eq!(gate.quarantine().unwrap().since, since);
    drop(gate.enter(&call()).await.unwrap());
    make(&gate, Ok(())).await.unwrap();
    assert!(!quarantined(&gate).await);
}
