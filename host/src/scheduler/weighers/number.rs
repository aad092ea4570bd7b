//! The pool with fewest resources (its multiplier is below 0 for that).

use super::Weigher;
use crate::scheduler::{
    capacity::float,
    pools::Candidate,
    request::{Options, PlacementRequest},
};

pub struct Number;

impl Weigher for Number {
    fn name(&self) -> &'static str {
        "VolumeNumberWeigher"
    }
    fn multiplier(&self, options: &Options) -> f64 {
        options.volume_number_multiplier
    }
    fn weigh(&self, pool: &Candidate, _request: &PlacementRequest) -> Option<f64> {
        Some(float(pool.row.resources))
    }
}
