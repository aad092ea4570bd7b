//! Share servers without shares are torn down when they have been idle for a configured time.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{app::App, clock, error::Result, service::share_server::delete};

/// Most servers of one look at the database.
const BATCH: i64 = 100;

/// The loop.
pub struct IdleServers {
    app: Weak<App>,
}

impl IdleServers {
    pub fn new(app: &Arc<App>) -> Self {
        Self { app: Arc::downgrade(app) }
    }
}

impl Reconciler for IdleServers {
    fn name(&self) -> &'static str {
        "idle-servers"
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
            let config = app.config.get();
            if !config.share.automatic_share_server_cleanup {
                return Ok(String::new());
            }
            let before = clock::now().saturating_sub(clock::micros(config.share.unused_share_server_cleanup_interval));
            let mut begun = 0;
            loop {
                let idle = app.store.idle_share_servers(before, BATCH).await?;
                let so_far = begun;
                for (id, network) in &idle {
                    match delete::idle(&app, id, network, before).await {
                        Ok(true) => begun += 1,
                        Ok(false) => {}
                        Err(e) => tracing::debug!(share_server_id = id, error = %e, "an idle share server stays for now"),
                    }
                }
                let full = i64::try_from(idle.len()).is_ok_and(|n| n == BATCH);
                if !full || begun == so_far {
                    break;
                }
            }
            Ok(if begun == 0 { String::new() } else { format!("{begun} idle share servers are being torn down") })
        })
    }
}
