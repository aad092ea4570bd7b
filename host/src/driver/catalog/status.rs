//! How every driver and its back ends stand, for the admin API.

use serde::Serialize;

use super::{Catalog, book};
use crate::{
    clock::{self, Micros},
    driver::backend::Backend,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DriverState {
    Serving,
    /// It serves; a replaced incarnation still has calls.
    Draining,
    /// It serves, but a back end of it is quarantined.
    Quarantined,
    /// Nothing serves under this name: its only bytes were refused.
    Refused,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendState {
    Up,
    Quarantined,
    Down,
}

/// One driver name.
#[derive(Debug, Clone, Serialize)]
pub struct DriverStatus {
    pub name: String,
    /// In the plugin folder.
    pub file: String,
    pub sha256: Option<String>,
    pub interface_version: Option<String>,
    pub vendor: Option<String>,
    /// What the driver calls itself.
    pub driver: Option<String>,
    pub version: Option<String>,
    pub state_version: Option<u32>,
    /// What it exports.
    pub interfaces: Vec<String>,
    pub state: DriverState,
    pub reason: Option<String>,
    /// When what serves was taken into service.
    #[serde(serialize_with = "clock::as_utc_or_null")]
    pub since: Option<Micros>,
    /// An operator overrode a check.
    pub forced: bool,
    /// The newest file that was not taken.
    pub refused: Option<RefusedFile>,
    pub backends: Vec<BackendStatus>,
    pub drains: Vec<DrainStatus>,
}

#[derive(Debug, Clone, Serialize)]
pub struct RefusedFile {
    pub sha256: String,
    pub reason: String,
    #[serde(serialize_with = "clock::as_utc")]
    pub at: Micros,
}

/// One back end.
#[derive(Debug, Clone, Serialize)]
pub struct BackendStatus {
    pub name: String,
    pub host: String,
    pub driver: String,
    pub state: BackendState,
    pub reason: Option<String>,
    #[serde(serialize_with = "clock::as_utc")]
    pub since: Micros,
    /// Why it does not serve as it is configured now.
    pub held_back: Option<String>,
    #[serde(serialize_with = "clock::as_utc_or_null")]
    pub held_back_since: Option<Micros>,
    pub calls_in_flight: usize,
}

/// A replaced incarnation.
#[derive(Debug, Clone, Serialize)]
pub struct DrainStatus {
    pub host: String,
    pub sha256: String,
    #[serde(serialize_with = "clock::as_utc")]
    pub began: Micros,
    /// None while calls run on it.
    pub drained_ms: Option<i64>,
    pub calls_in_flight: usize,
}

impl Catalog {
    /// Every driver, by name.
    pub fn status(&self) -> Vec<DriverStatus> {
        let backends = self.backend_status();
        let book = self.book();
        book.drivers.iter().map(|(name, entry)| driver(name, entry, &book, &backends)).collect()
    }

    /// Every configured back end, also those whose driver is not loaded.
    pub fn backend_status(&self) -> Vec<BackendStatus> {
        let live = self.inner.live.load();
        let host = self.parts().map(|p| p.host.clone()).unwrap_or_default();
        let book = self.book();
        book.backends
            .iter()
            .map(|(name, entry)| {
                let host = format!("{host}@{name}");
                backend(name, entry, live.get(&host).map(|b| &**b), host)
            })
            .collect()
    }
}

fn backend(name: &str, entry: &book::BackendEntry, live: Option<&Backend>, host: String) -> BackendStatus {
    let quarantine = live.and_then(|b| b.gate.quarantine());
    let (state, reason, since): (_, _, Micros) = match (&entry.down, quarantine) {
        (Some(down), _) => (BackendState::Down, Some(down.reason.clone()), down.since),
        (None, Some(q)) => (BackendState::Quarantined, Some(q.reason), q.since),
        (None, None) => (BackendState::Up, None, entry.since),
    };
    BackendStatus {
        name: name.to_owned(),
        host,
        driver: entry.config.driver.clone(),
        state,
        reason,
        since,
        held_back: entry.held_back.as_ref().map(|h| h.reason.clone()),
        held_back_since: entry.held_back.as_ref().map(|h| h.since),
        calls_in_flight: live.map_or(0, |b| b.gate.in_flight()),
    }
}

fn driver(name: &str, entry: &book::DriverEntry, book: &book::Book, backends: &[BackendStatus]) -> DriverStatus {
    let mine: Vec<BackendStatus> = backends.iter().filter(|b| b.driver == name).cloned().collect();
    let drains: Vec<DrainStatus> = book.drains.iter().filter(|d| mine.iter().any(|b| b.host == d.host)).map(drain).collect();
    let identity = entry.loaded.as_ref().map(|d| d.identity());
    let quarantined = mine.iter().find(|b| b.state == BackendState::Quarantined);
    let (state, reason) = match (identity, quarantined) {
        (None, _) => (DriverState::Refused, entry.refused.as_ref().map(|r| r.reason.clone())),
        (Some(_), Some(b)) => (DriverState::Quarantined, b.reason.clone()),
        (Some(_), None) if drains.iter().any(|d| d.drained_ms.is_none()) => (DriverState::Draining, None),
        (Some(_), None) => (DriverState::Serving, None),
    };
    DriverStatus {
        name: name.to_owned(),
        file: format!("{name}.wasm"),
        sha256: identity.map(|i| i.sha256.clone()),
        interface_version: identity.map(|i| i.interface_version.clone()),
        vendor: identity.map(|i| i.vendor.clone()),
        driver: identity.map(|i| i.name.clone()),
        version: identity.map(|i| i.version.clone()),
        state_version: identity.map(|i| i.state_version),
        interfaces: identity.map(|i| i.exports.clone()).unwrap_or_default(),
        state,
        reason,
        since: identity.map(|_| entry.since),
        forced: entry.forced,
        refused: entry.refused.as_ref().map(|r| RefusedFile { sha256: r.sha256.clone(), reason: r.reason.clone(), at: r.at }),
        backends: mine,
        drains,
    }
}

fn drain(d: &book::Drain) -> DrainStatus {
    DrainStatus {
        host: d.host.clone(),
        sha256: d.sha256.clone(),
        began: d.began,
        drained_ms: d.ended.map(|at| (at - d.began) / 1000),
        calls_in_flight: d.old.upgrade().map_or(0, |b| b.gate.in_flight()),
    }
}
