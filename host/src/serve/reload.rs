//! What makes a configuration reload: the file itself, SIGHUP, and the admin API; and what follows it in this process.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    config::{ConfigError, Live, Reload},
    telemetry::{health::Status, log::LogControl},
};

/// An editor writes a file in several steps.
const SETTLE: Duration = Duration::from_millis(200);

/// Reloads and logs the outcome.
pub(super) fn now(live: &Live, why: &'static str) {
    // both outcomes are logged by `reload`
    let _ = reload(live, why);
}

/// Reloads, logs and counts the outcome.
///
/// # Errors
/// [`ConfigError`]; the old configuration stays.
pub fn reload(live: &Live, why: &str) -> Result<Reload, ConfigError> {
    let outcome = live.reload();
    match &outcome {
        Ok(report) => {
            metrics::counter!("stowage_config_reloads_total", "outcome" => "ok").increment(1);
            if *report == Reload::default() {
                tracing::debug!(why, "the configuration is unchanged");
            } else {
                tracing::info!(
                    why,
                    changed = ?report.changed, needs_restart = ?report.needs_restart, backends_added = ?report.backends_added,
                    backends_changed = ?report.backends_changed, backends_removed = ?report.backends_removed,
                    "the configuration was reloaded"
                );
            }
        }
        Err(e) => {
            metrics::counter!("stowage_config_reloads_total", "outcome" => "refused").increment(1);
            tracing::error!(why, "the configuration was not reloaded, the old one stays: {e}");
        }
    }
    outcome
}

/// Follows the file and every published change until `stop`.
pub(super) fn watch(app: Arc<App>, log: Option<LogControl>, stop: CancellationToken) {
    if let Some(file) = app.config.source().file.clone() {
        tokio::spawn(follow_file(app.config.clone(), app.health.clone(), file, stop.clone()));
    }
    let mut changes = app.config.subscribe();
    changes.mark_unchanged();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                changed = changes.changed() => if changed.is_err() { return },
            }
            let config = changes.borrow_and_update().clone();
            if let Some(log) = &log {
                log.set_level(&config.log.level);
            }
            app.apply(&config).await;
        }
    });
}

async fn follow_file(live: Live, health: crate::telemetry::health::Health, file: PathBuf, stop: CancellationToken) {
    let (tx, mut rx) = mpsc::channel(1);
    let _watcher = match folder_watcher(&file, tx) {
        Ok(watcher) => watcher,
        Err(e) => {
            tracing::warn!(file = %file.display(), error = %e, "the configuration file is not watched; SIGHUP still reloads it");
            return;
        }
    };
    let mut last = std::fs::read(&file).ok();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            event = rx.recv() => if event.is_none() { return },
        }
        tokio::time::sleep(SETTLE).await;
        while rx.try_recv().is_ok() {}
        let text = std::fs::read(&file).ok();
        if text.is_none() || text == last {
            continue;
        }
        last = text;
        match reload(&live, "the file changed") {
            Ok(_) => health.ok("configuration"),
            Err(e) => health.set("configuration", Status::Degraded, format!("the file is refused, the old configuration is in force: {e}")),
        }
    }
}

/// Watches the folder: editors and configuration tools replace the file by another.
fn folder_watcher(file: &Path, tx: mpsc::Sender<()>) -> notify::Result<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|e| !e.kind.is_access()) {
            // a full channel holds the signal already
            let _ = tx.try_send(());
        }
    })?;
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    watcher.watch(folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
