//! The pool with most room.

use super::Weigher;
use crate::scheduler::{
    pools::Candidate,
    request::{Options, PlacementRequest},
};

pub struct Capacity;

impl Weigher for Capacity {
    fn name(&self) -> &'static str {
        "CapacityWeigher"
    }
    fn multiplier(&self, options: &Options) -> f64 {
        options.capacity_weight_multiplier
    }
    fn weigh(&self, pool: &Candidate, request: &PlacementRequest) -> Option<f64> {
        pool.room(request)
    }
}
