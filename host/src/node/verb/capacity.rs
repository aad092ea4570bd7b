//! How much room there is, and how much is promised.

use super::Node;
use crate::node::{
    blocking,
    disk::{Capacity, GIB},
    refusal::Result,
};

#[derive(Debug, serde::Serialize)]
pub struct Sums {
    pub total_bytes: u64,
    pub free_bytes: u64,
    pub provisioned_bytes: u64,
    pub volumes: usize,
    pub snapshots: usize,
}

impl Node {
    /// # Errors
    /// `internal`.
    pub async fn capacity(&self) -> Result<Sums> {
        let disk = self.disk.clone();
        let Capacity { total_bytes, free_bytes } = blocking(move || disk.capacity()).await?;
        let volumes = self.records.volumes.page(None, usize::MAX, |v| v.is_live());
        let snapshots = self.records.snapshots.page(None, usize::MAX, |s| s.is_live());
        let gib = volumes.iter().map(|v| v.size_gib).chain(snapshots.iter().map(|s| s.size_gib)).fold(0, u64::saturating_add);
        Ok(Sums { total_bytes, free_bytes, provisioned_bytes: gib.saturating_mul(GIB), volumes: volumes.len(), snapshots: snapshots.len() })
    }
}
