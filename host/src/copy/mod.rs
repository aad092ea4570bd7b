//! The bytes of a volume, from one back end to another, through this machine.
//!
//! Who asks ([`volume.migrate`](crate::jobs::task)) has both volumes connected to this service under a name of its own and
//! hands over the two connections. What happens then is a [`Copier`]'s: [`Qemu`] in the product, a stand-in in tests.
//!
//! Invariants: when the future of a copy is dropped (a lost lease, a cancelled move, the end of the process) nothing of it
//! runs on; a secret stands in no argument list and no log; no more copies run at once than the configuration permits.
//! On failure: a typed [`CopyError`] that says who can act, and a target that holds anything.

mod connection;
mod error;
pub mod qemu;

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use futures::future::BoxFuture;

use crate::{config::CopyConfig, driver::types::Connection};

pub use connection::{by_portal, connector, iscsi, permitted};
pub use error::CopyError;
pub use qemu::Qemu;

/// One end of a copy.
#[derive(Debug, Clone)]
pub struct End {
    pub connection: Connection,
    /// The name under which it was connected.
    pub initiator: String,
}

/// What is to be copied.
#[derive(Debug, Clone)]
pub struct Order {
    pub from: End,
    pub to: End,
    pub size_gib: u64,
    /// Where files with secrets may lie for as long as the copy runs.
    pub folder: PathBuf,
}

/// How far a copy is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// The bytes are there, and are being compared with their source.
    pub verifying: bool,
    pub percent: u8,
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} %", if self.verifying { "comparing" } else { "copying" }, self.percent)
    }
}

/// Copies.
pub trait Copier: Send + Sync {
    /// All of `order.from` into `order.to`, and if the configuration says so reads both again. The target is at least as
    /// large, and nobody else uses either of the two.
    fn copy<'a>(
        &'a self,
        order: &'a Order,
        config: &'a CopyConfig,
        progress: &'a (dyn Fn(Progress) + Send + Sync),
    ) -> BoxFuture<'a, Result<(), CopyError>>;
}

/// Who copies in this process, and how many copies run.
pub struct Copies {
    copier: RwLock<Arc<dyn Copier>>,
    running: Arc<()>,
}

/// Room for one copy; given back when it is dropped.
pub struct Place(#[expect(dead_code, reason = "counted while it is held")] Arc<()>);

impl Default for Copies {
    fn default() -> Self {
        Self { copier: RwLock::new(Arc::new(Qemu::default())), running: Arc::new(()) }
    }
}

impl Copies {
    /// Room for one more, if fewer than `most` run.
    pub fn enter(&self, most: usize) -> Option<Place> {
        let place = Place(Arc::clone(&self.running));
        // itself, this one, and those before it
        (Arc::strong_count(&self.running) <= most.saturating_add(1)).then_some(place)
    }

    /// Who copies.
    pub fn copier(&self) -> Arc<dyn Copier> {
        Arc::clone(&self.copier.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another copier from now on.
    pub fn replace(&self, copier: Arc<dyn Copier>) {
        *self.copier.write().unwrap_or_else(PoisonError::into_inner) = copier;
    }
}

/// How long a copy of this size may stand still: `percent` of a large volume takes its time.
fn silence(config: &CopyConfig, size_gib: u64, percent: f64) -> Duration {
    /// MiB a second that any path manages.
    const SLOWEST: f64 = 10.0;
    let rate = match config.bandwidth_mib {
        0 => SLOWEST,
        limit => f64::from(limit).min(SLOWEST * 2.0) / 2.0,
    };
    #[expect(clippy::cast_precision_loss, reason = "sizes stay far below 2^52 GiB")]
    let mib = size_gib as f64 * 10.24 * percent;
    config.stall + Duration::from_secs_f64(mib / rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_copies_run_than_may() {
        let copies = Copies::default();
        let first = copies.enter(2);
        let second = copies.enter(2);
        assert!(first.is_some() && second.is_some() && copies.enter(2).is_none());
        drop(first);
        assert!(copies.enter(2).is_some());
    }

    #[test]
    fn a_large_or_throttled_volume_may_stand_still_for_longer() {
        let mut config = CopyConfig { stall: Duration::from_secs(60), ..CopyConfig::default() };
        assert_eq!(silence(&config, 0, 1.0), Duration::from_secs(60));
        assert_eq!(silence(&config, 1000, 1.0), Duration::from_secs(60 + 1024));
        config.bandwidth_mib = 1;
        assert_eq!(silence(&config, 1000, 1.0), Duration::from_secs(60 + 20480));
    }
}
