//! Claims, pools and the outbox: true with the next report and the next delivery.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use crate::database::Database;

/// Room on each array.
pub const POOL_GIB: u64 = 20;

const CLAIMS: &str = "SELECT resource_id || ' on ' || pool || ' for ' || operation || ' of ' || CAST(gib AS TEXT) || CASE WHEN settled_at IS NULL THEN ', open' ELSE ', settled' END \
    FROM capacity_claims";
const POOLS: &str = "SELECT name || '|' || CAST(claimed_gib AS TEXT) || '|' || CAST(allocated_gib AS TEXT) || '|' || CAST(resources AS TEXT) || '|' || free FROM pools";
const ALLOCATIONS: &str = "SELECT resource_id || '|' || pool || '|' || CAST(gib AS TEXT) FROM pool_allocations ORDER BY resource_id";
const OUTBOX: &str = "SELECT event_type || ' of ' || resource_id || ', attempts ' || CAST(attempts AS TEXT) FROM outbox ORDER BY seq";

/// What the figures are of.
pub struct Room {
    /// What lies where, and how large it is: by id, the pool and its size.
    pub lying: BTreeMap<String, (String, u64)>,
    /// GiB that each back end's array holds.
    pub used: Vec<(&'static str, u64)>,
}

impl Room {
    /// What is not so, once it had `patience` to become so.
    pub async fn figures_come_true(&self, database: &Database, patience: Duration) -> Vec<String> {
        let began = Instant::now();
        loop {
            let broken = self.figures(database).await;
            if broken.is_empty() || began.elapsed() > patience {
                return broken;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn figures(&self, database: &Database) -> Vec<String> {
        let mut broken: Vec<String> = Vec::new();
        broken.extend(database.texts(OUTBOX).await.into_iter().map(|row| format!("[event-left] {row}")));
        broken.extend(database.texts(CLAIMS).await.into_iter().map(|row| format!("[claim-left] {row}")));
        let places: BTreeMap<String, String> = pairs(database.texts(ALLOCATIONS).await);
        let wanted: BTreeMap<String, String> = self.lying.iter().map(|(id, (pool, gib))| (id.clone(), format!("{pool}|{gib}"))).collect();
        if places != wanted {
            let differ: BTreeSet<_> =
                places.iter().chain(&wanted).filter(|(id, at)| places.get(*id) != Some(at) || wanted.get(*id) != Some(at)).collect();
            broken.push(format!("[wrong-place] allocations and what there is differ: {differ:?}"));
        }
        for row in database.texts(POOLS).await {
            let parts: Vec<&str> = row.split('|').collect();
            let [name, claimed, allocated, resources, free] = parts[..] else { continue };
            let here: Vec<(&str, u64)> =
                self.lying.iter().filter(|(_, (pool, _))| pool == name).map(|(id, (_, gib))| (id.as_str(), *gib)).collect();
            let used = self.used.iter().find(|(backend, _)| name.starts_with(backend)).map_or(0, |(_, gib)| *gib);
            let left = POOL_GIB.saturating_sub(used) as f64;
            let true_now = claimed == "0"
                && allocated == here.iter().map(|(_, gib)| gib).sum::<u64>().to_string()
                && resources == here.len().to_string()
                && free.parse::<f64>().is_ok_and(|f| (f - left).abs() < 0.01);
            if !true_now {
                broken.push(format!("[wrong-pool] {row}: on it are {here:?}, and the array has {left} GiB left"));
            }
        }
        broken
    }
}

/// `KEY|REST`.
pub fn pairs(rows: Vec<String>) -> BTreeMap<String, String> {
    rows.iter().filter_map(|row| row.split_once('|')).map(|(key, rest)| (key.to_owned(), rest.to_owned())).collect()
}
