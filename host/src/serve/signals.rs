//! SIGTERM and SIGINT end the process in order, SIGHUP reloads the configuration.

use std::{io, sync::Arc};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::App;

/// The handlers. Install them before anything else: until then each of these signals kills the process.
pub struct Signals {
    term: Signal,
    int: Signal,
    hup: Signal,
}

impl Signals {
    /// # Errors
    /// When the process may not have signal handlers.
    pub fn install() -> io::Result<Self> {
        Ok(Self { term: signal(SignalKind::terminate())?, int: signal(SignalKind::interrupt())?, hup: signal(SignalKind::hangup())? })
    }

    /// Returns when the process is asked to end; for the time before there is anything to end in order.
    pub async fn before_ready(&mut self) {
        let name = tokio::select! {
            _ = self.term.recv() => "SIGTERM",
            _ = self.int.recv() => "SIGINT",
        };
        tracing::info!("{name}: stopping before the start was complete");
    }

    /// Returns when the process is asked to end, at once if it was already. SIGHUP is handled meanwhile.
    pub async fn until_stop(&mut self, app: &Arc<App>) {
        loop {
            tokio::select! {
                _ = self.term.recv() => {
                    tracing::info!("SIGTERM: stopping");
                    return;
                }
                _ = self.int.recv() => {
                    tracing::info!("SIGINT: stopping");
                    return;
                }
                _ = self.hup.recv() => super::reload::now(app, "SIGHUP").await,
            }
        }
    }
}
