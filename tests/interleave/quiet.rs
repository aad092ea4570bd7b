//! Waiting until nothing is under way.

use std::time::{Duration, Instant};

use support::array::Array;

use crate::{
    database::Database,
    half::{LEASE, MAX_AGE},
};

/// On a loaded machine nothing happens on the dot.
const SLACK: Duration = Duration::from_secs(20);

/// Every job that has not ended.
const JOBS: &str = "SELECT kind || ' of ' || resource_id || ' ' || state || ', attempts ' || CAST(attempts AS TEXT) || ', failures ' || CAST(failures AS TEXT) \
                    || ' ' || reason || ' ' || payload FROM jobs WHERE state <> 'done' ORDER BY seq";

/// Lets the arrays do what they are asked from now on, and waits until no job is left: within a lease and the age of a job.
pub async fn quiet(arrays: &[Array], database: &Database) -> Vec<String> {
    for array in arrays {
        array.control.clear_faults().await.unwrap();
    }
    let began = Instant::now();
    loop {
        let left = database.texts(JOBS).await;
        if left.is_empty() {
            return Vec::new();
        }
        if began.elapsed() > LEASE + MAX_AGE + SLACK {
            return left.into_iter().map(|job| format!("[job-left] {job}")).collect();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
