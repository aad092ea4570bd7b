//! What the pool's `goodness_function` says: 0 to 100. True is 100; what is no such number, and what cannot be computed, is 0.

use super::Weigher;
use crate::scheduler::{
    formula::Value,
    functions::{self, GOODNESS},
    pools::Candidate,
    request::{Options, PlacementRequest},
};

pub struct Goodness;

impl Weigher for Goodness {
    fn name(&self) -> &'static str {
        "GoodnessWeigher"
    }
    fn multiplier(&self, options: &Options) -> f64 {
        options.goodness_weight_multiplier
    }
    fn weigh(&self, pool: &Candidate, request: &PlacementRequest) -> Option<f64> {
        let values = functions::values(pool, request, GOODNESS).unwrap_or_else(|e| {
            tracing::debug!(pool = pool.row.name, error = %e, "the pool's goodness function cannot be computed, and counts as 0");
            None
        });
        Some(values.into_iter().flatten().map(|v| goodness(&v)).fold(0.0, f64::max))
    }
}

fn goodness(value: &Value) -> f64 {
    match value {
        Value::Bool(true) => 100.0,
        Value::Number(n) if (0.0..=100.0).contains(n) => *n,
        _ => 0.0,
    }
}
