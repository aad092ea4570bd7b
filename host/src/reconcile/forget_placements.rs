//! Explanations of placements are kept for a while, and so many at most; claims whose pool is gone are dropped.

use std::{sync::Weak, time::Duration};

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{app::App, clock, error::Result};

/// Rows deleted in one transaction, so that it stays short.
const BATCH: i64 = 1000;
/// A settled claim that no report covered in this long has no pool any more.
const STRAY: Duration = Duration::from_secs(24 * 3600);

/// The loop.
pub struct ForgetPlacements {
    app: Weak<App>,
}

impl ForgetPlacements {
    pub fn new(app: &std::sync::Arc<App>) -> Self {
        Self { app: std::sync::Arc::downgrade(app) }
    }
}

impl Reconciler for ForgetPlacements {
    fn name(&self) -> &'static str {
        "forget-placements"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(600)
    }

    fn is_duty(&self) -> bool {
        true
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let Some(app) = self.app.upgrade() else { return Ok(String::new()) };
            let age = clock::micros(app.config.get().scheduler.explain_age);
            let mut gone = 0;
            loop {
                let before = (clock::now() - age).max(app.store.placements_cutoff().await?);
                let mut tx = app.store.begin().await?;
                let batch = tx.purge_placements(before, BATCH).await?;
                tx.purge_claims(clock::now() - clock::micros(STRAY)).await?;
                tx.commit().await?;
                gone += batch;
                if batch < BATCH.unsigned_abs() {
                    break;
                }
            }
            Ok(if gone == 0 { String::new() } else { format!("{gone} explanations deleted") })
        })
    }
}
