//! SIGTERM and SIGINT end the process in order, SIGHUP reloads the configuration.

use tokio::signal::unix::{SignalKind, signal};

use crate::config::Live;

/// Returns when the process is asked to end. SIGHUP is handled meanwhile.
///
/// # Errors
/// When the process may not have signal handlers.
pub async fn until_stop(live: &Live) -> std::io::Result<()> {
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    let mut hup = signal(SignalKind::hangup())?;
    loop {
        tokio::select! {
            _ = term.recv() => {
                tracing::info!("SIGTERM: stopping");
                return Ok(());
            }
            _ = int.recv() => {
                tracing::info!("SIGINT: stopping");
                return Ok(());
            }
            _ = hup.recv() => super::reload::now(live, "SIGHUP"),
        }
    }
}
