//! The pool that was given least (its multiplier is below 0 for that).

use super::Weigher;
use crate::scheduler::{
    capacity::float,
    pools::Candidate,
    request::{Options, PlacementRequest},
};

pub struct Allocated;

impl Weigher for Allocated {
    fn name(&self) -> &'static str {
        "AllocatedCapacityWeigher"
    }
    fn multiplier(&self, options: &Options) -> f64 {
        options.allocated_capacity_weight_multiplier
    }
    fn weigh(&self, pool: &Candidate, _request: &PlacementRequest) -> Option<f64> {
        Some(float(pool.row.allocated_gib))
    }
}
