//! Claims, pools and the outbox: true with the next report and the next delivery.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use super::{Scene, id, on_host, pairs};
use crate::world::{BACKENDS, POOL_GIB, World};

const CLAIMS: &str = "SELECT resource_id || ' on ' || pool || ' for ' || operation || ' of ' || CAST(gib AS TEXT) || CASE WHEN settled_at IS NULL THEN ', open' ELSE ', settled' END \
    FROM capacity_claims";
const POOLS: &str = "SELECT name || '|' || CAST(claimed_gib AS TEXT) || '|' || CAST(allocated_gib AS TEXT) || '|' || CAST(resources AS TEXT) || '|' || free FROM pools";
const ALLOCATIONS: &str = "SELECT resource_id || '|' || pool || '|' || CAST(gib AS TEXT) FROM pool_allocations ORDER BY resource_id";
const OUTBOX: &str = "SELECT event_type || ' of ' || resource_id || ', attempts ' || CAST(attempts AS TEXT) FROM outbox ORDER BY seq";

impl Scene {
    /// Claims, pools and the outbox: true with the next report and the next delivery.
    pub(super) async fn figures_come_true(&self, world: &World, patience: Duration) -> Vec<String> {
        let began = Instant::now();
        loop {
            let broken = self.figures(world).await;
            if broken.is_empty() || began.elapsed() > patience {
                return broken;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(super) async fn figures(&self, world: &World) -> Vec<String> {
        let mut broken: Vec<String> = Vec::new();
        broken.extend(world.database.texts(OUTBOX).await.into_iter().map(|row| format!("[event-left] {row}")));
        broken.extend(world.database.texts(CLAIMS).await.into_iter().map(|row| format!("[claim-left] {row}")));
        let places: BTreeMap<String, String> = pairs(world.database.texts(ALLOCATIONS).await);
        let lie = self.volumes.iter().filter_map(|v| Some((id(v).to_owned(), format!("{}|{}", on_host(v)?, v["size"]))));
        let wanted: BTreeMap<String, String> = lie.collect();
        if places != wanted {
            let differ: BTreeSet<_> =
                places.iter().chain(&wanted).filter(|(id, at)| places.get(*id) != Some(at) || wanted.get(*id) != Some(at)).collect();
            broken.push(format!("[wrong-place] allocations and volumes differ: {differ:?}"));
        }
        for row in world.database.texts(POOLS).await {
            let parts: Vec<&str> = row.split('|').collect();
            let [name, claimed, allocated, resources, free] = parts[..] else { continue };
            let here: Vec<(&str, u64)> =
                self.volumes.iter().filter(|v| on_host(v) == Some(name)).map(|v| (id(v), v["size"].as_u64().unwrap_or_default())).collect();
            let array = BACKENDS.iter().position(|b| name.starts_with(b)).unwrap_or_default();
            let used: u64 = self.held[array].values().flat_map(BTreeMap::values).map(|o| o.gib).sum();
            let left = POOL_GIB.saturating_sub(used) as f64;
            let true_now = claimed == "0"
                && allocated == here.iter().map(|(_, gib)| gib).sum::<u64>().to_string()
                && resources == here.len().to_string()
                && free.parse::<f64>().is_ok_and(|f| (f - left).abs() < 0.01);
            if !true_now {
                broken.push(format!("[wrong-pool] {row}: it has volumes {here:?}, and the array has {left} GiB left"));
            }
        }
        broken
    }
}
