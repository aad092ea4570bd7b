//! Waiting for a condition, never for a time.

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// How long anything may take on a loaded machine before a test calls it a failure.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Asks again and again until there is an answer.
///
/// # Panics
/// After [`PATIENCE`], naming what was waited for.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, ask: impl FnMut() -> F) -> T {
    within(PATIENCE, what, ask).await
}

/// [`until`] with a patience of its own.
pub async fn within<T, F: Future<Output = Option<T>>>(patience: Duration, what: &str, mut ask: impl FnMut() -> F) -> T {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(5);
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(begun.elapsed() < patience, "waited {patience:?} for {what}");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}
