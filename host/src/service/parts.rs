//! The parts of the block and of the share service as operators see them: one a back end, and the scheduler.

use crate::{
    app::App,
    clock,
    store::{
        StoreResult,
        sql::backends::{BackendKind, BackendRow},
    },
};

/// One part.
#[derive(Debug)]
pub enum Part {
    /// The scheduler: in every process, so it is up when it is asked.
    Scheduler { host: String, zone: String },
    Backend {
        row: Box<BackendRow>,
        /// What its driver said last: it takes new objects in some pool.
        takes_new: bool,
    },
}

/// Every part of one service, the scheduler first.
pub async fn all(app: &App, kind: BackendKind) -> StoreResult<Vec<Part>> {
    let config = app.config.get();
    let mut all = vec![Part::Scheduler { host: config.host.clone(), zone: config.block.default_availability_zone.clone() }];
    let pools = app.store.pools(kind).await?;
    for row in app.store.backends(Some(kind)).await? {
        let takes_new = pools.iter().any(|p| p.host == row.host && p.present && p.available);
        all.push(Part::Backend { row: Box::new(row), takes_new });
    }
    Ok(all)
}

impl Part {
    pub fn host(&self) -> &str {
        match self {
            Self::Scheduler { host, .. } => host,
            Self::Backend { row, .. } => &row.host,
        }
    }
    pub fn zone(&self) -> &str {
        match self {
            Self::Scheduler { zone, .. } => zone,
            Self::Backend { row, .. } => &row.availability_zone,
        }
    }
    /// `host` names it, or the cluster that it belongs to.
    pub fn is_on(&self, host: &str) -> bool {
        self.host() == host || self.host().split_once('@').is_some_and(|(cluster, _)| cluster == host)
    }
    pub fn is_enabled(&self) -> bool {
        match self {
            Self::Scheduler { .. } => true,
            Self::Backend { row, .. } => row.enabled,
        }
    }
    pub fn is_up(&self) -> bool {
        match self {
            Self::Scheduler { .. } => true,
            Self::Backend { row, .. } => row.state(clock::now()).is_ok(),
        }
    }
    /// Whether the storage behind it is up: an array may be out while its service answers.
    pub fn storage_is_up(&self) -> bool {
        match self {
            Self::Scheduler { .. } => true,
            Self::Backend { takes_new, .. } => self.is_up() && *takes_new,
        }
    }
    /// When it was heard of last.
    pub fn updated_at(&self) -> clock::Micros {
        match self {
            Self::Scheduler { .. } => clock::now(),
            Self::Backend { row, .. } => row.reported_at.unwrap_or(row.updated_at),
        }
    }
}
