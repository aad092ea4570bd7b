//! Shares in the recycle bin whose time is over are deleted.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{app::App, clock, error::Result, service::share::delete};

/// Most shares of one look at the database.
const BATCH: i64 = 100;

/// The loop.
pub struct EmptyBin {
    app: Weak<App>,
}

impl EmptyBin {
    pub fn new(app: &Arc<App>) -> Self {
        Self { app: Arc::downgrade(app) }
    }
}

impl Reconciler for EmptyBin {
    fn name(&self) -> &'static str {
        "empty-bin"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn is_duty(&self) -> bool {
        true
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let Some(app) = self.app.upgrade() else { return Ok(String::new()) };
            let mut begun = 0;
            loop {
                let due = app.store.shares_due_for_deletion(clock::now(), BATCH).await?;
                let before = begun;
                for id in &due {
                    match delete::expire(&app, id).await {
                        Ok(true) => begun += 1,
                        // restored meanwhile
                        Ok(false) => {}
                        // it has a snapshot, or something works on it: the next run looks again
                        Err(e) => tracing::debug!(share_id = id, error = %e, "a share stays in the recycle bin for now"),
                    }
                }
                let full = i64::try_from(due.len()).is_ok_and(|n| n == BATCH);
                if !full || begun == before {
                    break;
                }
            }
            Ok(if begun == 0 { String::new() } else { format!("{begun} shares of the recycle bin are being deleted") })
        })
    }
}
