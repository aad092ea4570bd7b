//! Whether this process should get requests, and if not, why.
//!
//! Each part of the service keeps its own condition here. One broken driver does not make the service unready: its back
//! ends are refused by the scheduler, everything else works. Such conditions are `degraded` and say so.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    clock::{self, Micros},
    error::chain,
    store::Store,
};

/// How one part of the service does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    pub status: Status,
    /// Empty when all is well.
    pub reason: String,
    /// Since when it has been so.
    #[serde(serialize_with = "clock::as_utc")]
    pub since: Micros,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    /// Something an operator should look at; requests are served.
    Degraded,
    /// This process cannot serve requests.
    Unready,
}

/// The conditions of one process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Health(Arc<RwLock<BTreeMap<String, Condition>>>);

impl Health {
    /// Sets the condition of `part`; `since` moves only when the status changes.
    pub fn set(&self, part: &str, status: Status, reason: impl Into<String>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let since = all.get(part).filter(|c| c.status == status).map_or_else(clock::now, |c| c.since);
        all.insert(part.to_owned(), Condition { status, reason: reason.into(), since });
    }
    pub fn ok(&self, part: &str) {
        self.set(part, Status::Ok, "");
    }
    /// Forgets a part that is gone, such as a removed back end.
    pub fn forget(&self, part: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(part);
    }
    pub fn conditions(&self) -> BTreeMap<String, Condition> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// The worst of all conditions.
    pub fn status(&self) -> Status {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().map(|c| c.status).max().unwrap_or(Status::Ok)
    }
}

/// Keeps the condition `database`: a question through the read pool every few seconds.
pub fn watch_database(app: &Arc<App>, stop: CancellationToken) {
    let (store, health, metrics) = (app.store.clone(), app.health.clone(), app.metrics.clone());
    tokio::spawn(async move {
        loop {
            match tokio::time::timeout(PATIENCE, store.check_schema()).await {
                Ok(Ok(())) => health.ok("database"),
                Ok(Err(e)) => health.set("database", Status::Unready, why(&store, &chain(&e)).await),
                Err(_) => health.set("database", Status::Unready, why(&store, "no answer").await),
            }
            metrics.run_upkeep();
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(INTERVAL) => {}
            }
        }
    });
}

/// A pool cannot tell a database that is gone from one that is busy.
async fn why(store: &Store, otherwise: &str) -> String {
    store.reach().await.err().map_or_else(|| otherwise.to_owned(), |e| chain(&e))
}

const INTERVAL: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_condition_decides() {
        let health = Health::default();
        health.ok("database");
        assert_eq!(health.status(), Status::Ok);
        health.set("driver memory", Status::Degraded, "quarantined");
        assert_eq!(health.status(), Status::Degraded);
        health.set("database", Status::Unready, "gone");
        assert_eq!(health.status(), Status::Unready);
        health.forget("database");
        assert_eq!(health.status(), Status::Degraded);
    }

    #[test]
    fn since_moves_only_with_the_status() {
        let health = Health::default();
        health.set("jobs", Status::Degraded, "slow");
        let first = health.conditions()["jobs"].since;
        health.set("jobs", Status::Degraded, "slower");
        assert_eq!(health.conditions()["jobs"].since, first);
        assert_eq!(health.conditions()["jobs"].reason, "slower");
    }
}
