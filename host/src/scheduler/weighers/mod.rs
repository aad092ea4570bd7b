//! Which of the pools that can is best: the sum of multiplier x normalised weight. Deterministic: equal sums go to the
//! pool that was given least, then by name.

mod allocated;
mod capacity;
mod goodness;
mod number;

use serde_json::{Map, Value};

use super::{
    explain::Ranked,
    pools::Candidate,
    request::{Options, PlacementRequest},
};

/// One view of a pool.
pub trait Weigher: Sync {
    fn name(&self) -> &'static str;
    fn multiplier(&self, options: &Options) -> f64;
    /// None: not a number here; such a pool comes after all others, whichever way the multiplier points.
    fn weigh(&self, pool: &Candidate, request: &PlacementRequest) -> Option<f64>;
}

const WEIGHERS: [&dyn Weigher; 4] = [&capacity::Capacity, &allocated::Allocated, &number::Number, &goodness::Goodness];

/// The pools, best first, with their weights.
pub fn rank(pools: Vec<Candidate>, request: &PlacementRequest) -> Vec<(Candidate, Ranked)> {
    let mut ranked: Vec<(Candidate, Ranked)> = pools
        .into_iter()
        .map(|pool| {
            let ranked = Ranked { pool: pool.row.name.clone(), weight: 0.0, raw: Map::new() };
            (pool, ranked)
        })
        .collect();
    for weigher in WEIGHERS {
        let multiplier = weigher.multiplier(&request.options);
        if multiplier == 0.0 {
            continue;
        }
        let raw: Vec<Option<f64>> = ranked.iter().map(|(pool, _)| weigher.weigh(pool, request)).collect();
        for ((_, r), (raw, weight)) in ranked.iter_mut().zip(raw.iter().zip(normalise(&raw, multiplier))) {
            r.weight += multiplier * weight;
            r.raw.insert(weigher.name().to_owned(), raw.map_or(Value::Null, super::capacity::number));
        }
    }
    ranked.sort_by(|(a, ra), (b, rb)| {
        rb.weight.total_cmp(&ra.weight).then(a.row.allocated_gib.cmp(&b.row.allocated_gib)).then_with(|| a.row.name.cmp(&b.row.name))
    });
    ranked
}

/// Between 0 and 1 over the pools at hand; all equal gives 0. What is not a number gets the worst place.
fn normalise(raw: &[Option<f64>], multiplier: f64) -> Vec<f64> {
    let known: Vec<f64> = raw.iter().flatten().copied().collect();
    let (low, high) = known.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), w| (l.min(*w), h.max(*w)));
    let worst = match () {
        () if known.is_empty() => 0.0,
        () if multiplier > 0.0 => low.min(0.0) - 1.0,
        () if high > low => high + 100.0 * (high - low),
        () => high + 10_000.0,
    };
    let all: Vec<f64> = raw.iter().map(|w| w.unwrap_or(worst)).collect();
    let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), w| (l.min(*w), h.max(*w)));
    all.iter().map(|w| if high > low { (w - low) / (high - low) } else { 0.0 }).collect()
}
