//! `[jobs]`

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::duration;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobsConfig {
    /// Whether this process works on jobs; a process that only serves the API says false.
    pub work: bool,
    /// A worker that has not been heard of for this long is dead and its jobs are taken over.
    #[serde(with = "duration")]
    pub lease: Duration,
    /// Most jobs at once in this process. Each back end has a budget of its own (`backend.grants.concurrency`).
    pub concurrency: usize,
    /// How often to look for jobs that no signal announced.
    #[serde(with = "duration")]
    pub poll: Duration,
    /// After this long an operation that still has no outcome gets an end state, and clean-up goes on behind it.
    #[serde(with = "duration")]
    pub max_age: Duration,
    /// How long a request waits for the driver where the API answers after it (attachments); then 504, and the job goes on.
    #[serde(with = "duration")]
    pub wait: Duration,
    /// How long a deleted resource's tombstone is kept.
    #[serde(with = "duration")]
    pub tombstone_age: Duration,
}

impl Default for JobsConfig {
    fn default() -> Self {
        Self {
            work: true,
            lease: Duration::from_secs(20),
            concurrency: 64,
            poll: Duration::from_secs(5),
            max_age: Duration::from_secs(3600),
            wait: Duration::from_secs(60),
            tombstone_age: Duration::from_secs(30 * 24 * 3600),
        }
    }
}
