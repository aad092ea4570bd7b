//! Following the log levels set for this process through another one.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{app::App, error::Result, service::log_level::follow};

/// See the module.
pub struct LogLevels {
    app: Weak<App>,
    looks: AtomicU32,
}

/// Every so many looks the process says that it lives.
const SAYS_SO: u32 = 5;

impl LogLevels {
    pub fn new(app: &Arc<App>) -> Self {
        Self { app: Arc::downgrade(app), looks: AtomicU32::new(0) }
    }
}

impl Reconciler for LogLevels {
    fn name(&self) -> &'static str {
        "log-levels"
    }

    fn every(&self) -> Duration {
        // with its jitter no later than promised
        follow::EVERY.mul_f64(0.9)
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let Some(app) = self.app.upgrade() else { return Ok(String::new()) };
            follow::look(&app, self.looks.fetch_add(1, Ordering::Relaxed).is_multiple_of(SAYS_SO)).await?;
            Ok(String::new())
        })
    }
}
