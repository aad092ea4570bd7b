//! `[scheduler]`

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::duration;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulerConfig {
    /// How often every back end is asked for its capabilities and capacity.
    #[serde(with = "duration")]
    pub report_interval: Duration,
    /// Virtual to physical capacity for thin pools that do not say themselves.
    pub max_over_subscription_ratio: f64,
    /// Percent of a pool's total kept free where the driver does not say.
    pub reserved_percentage: u8,
    /// Weight of free capacity; negative prefers full pools.
    pub capacity_weight: f64,
    /// Weight of what a pool was given; below 0 prefers pools that were given least. 0: left out.
    pub allocated_capacity_weight: f64,
    /// Weight of the number of resources in a pool; below 0 prefers few. 0: left out.
    pub volume_number_weight: f64,
    /// Weight of the pools' goodness functions.
    pub goodness_weight: f64,
    /// Most pools that are tried for one volume or share.
    pub max_attempts: u32,
    /// How long a placement's explanation is kept.
    #[serde(with = "duration")]
    pub explain_age: Duration,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self {
            report_interval: Duration::from_secs(30),
            max_over_subscription_ratio: 20.0,
            reserved_percentage: 0,
            capacity_weight: 1.0,
            allocated_capacity_weight: 0.0,
            volume_number_weight: 0.0,
            goodness_weight: 1.0,
            max_attempts: 3,
            explain_age: Duration::from_secs(7 * 24 * 3600),
        }
    }
}
