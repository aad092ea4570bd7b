//! What makes a configuration reload: the file itself, the policy file it names, SIGHUP, and the admin API; and what follows
//! in this process. Files are read on threads that may block.

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
    config::{ConfigError, Reload},
    telemetry::health::Status,
};

/// An editor writes a file in several steps.
const SETTLE: Duration = Duration::from_millis(200);
/// The wait between two looks at the files without any event.
const LOOK: Duration = Duration::from_secs(30);

/// Reloads and logs the outcome.
pub(super) async fn now(app: &Arc<App>, why: &'static str) {
    // both outcomes are logged by `reload`
    let _ = reload(app, why).await;
}

/// Reloads configuration and policy; logs and counts the outcome.
///
/// # Errors
/// [`ConfigError`]; the old configuration stays.
pub async fn reload(app: &Arc<App>, why: &str) -> Result<Reload, ConfigError> {
    let live = app.config.clone();
    let read = tokio::task::spawn_blocking(move || live.reload()).await;
    let outcome = read.unwrap_or_else(|e| std::panic::resume_unwind(e.into_panic()));
    // also when the configuration is as it was: the policy is a file of its own
    app.reload_policy(&app.config.get()).await;
    match &outcome {
        Ok(report) => {
            metrics::counter!("stowage_config_reloads_total", "outcome" => "ok").increment(1);
            app.health.ok("configuration");
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
            let text = format!("the file is refused, the old configuration is in force: {e}");
            app.health.set("configuration", Status::Degraded, text);
            tracing::error!(why, "the configuration was not reloaded, the old one stays: {e}");
        }
    }
    outcome
}

/// Follows the file and every published change until `stop`.
pub(super) fn watch(app: Arc<App>, stop: CancellationToken) {
    if let Some(file) = app.config.source().file.clone() {
        tokio::spawn(follow_files(Arc::clone(&app), file, stop.clone()));
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
            app.apply(&config).await;
        }
    });
}

/// What the two files say; none for a file that is not there.
type Texts = (Option<Vec<u8>>, Option<Vec<u8>>);

async fn follow_files(app: Arc<App>, file: PathBuf, stop: CancellationToken) {
    let (tx, mut rx) = mpsc::channel(1);
    let mut policy = app.config.get().policy.file.clone();
    let mut watcher = folder_watcher(&[&file, &policy], &tx);
    let mut last = texts(&file, &policy).await;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = rx.recv() => {}
            // without events the files are looked at now and then
            () = tokio::time::sleep(LOOK) => {}
        }
        tokio::time::sleep(SETTLE).await;
        while rx.try_recv().is_ok() {}
        let read = texts(&file, &policy).await;
        // a file that is gone is about to be replaced
        let config_changed = read.0.is_some() && read.0 != last.0;
        if config_changed {
            now(&app, "the file changed").await;
        } else if read.1.is_some() && read.1 != last.1 {
            tracing::info!(file = %policy.display(), "the policy file changed");
            app.reload_policy(&app.config.get()).await;
        }
        last = (read.0.or(last.0), read.1.or(last.1));
        let named = app.config.get().policy.file.clone();
        if named != policy {
            policy = named;
            watcher = folder_watcher(&[&file, &policy], &tx);
            last.1 = texts(&file, &policy).await.1;
        } else if watcher.is_none() {
            watcher = folder_watcher(&[&file, &policy], &tx);
        }
    }
}

async fn texts(config: &Path, policy: &Path) -> Texts {
    let read = async |path: &Path| if path.as_os_str().is_empty() { None } else { tokio::fs::read(path).await.ok() };
    (read(config).await, read(policy).await)
}

/// Watches the folders: editors and configuration tools replace the file by another.
fn folder_watcher(files: &[&Path], tx: &mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let tx = tx.clone();
    let watching = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|e| !e.kind.is_access()) {
            // a full channel holds the signal already
            let _ = tx.try_send(());
        }
    });
    let watching = watching.and_then(|mut watcher| {
        for file in files.iter().filter(|f| !f.as_os_str().is_empty()) {
            let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        Ok(watcher)
    });
    watching
        .inspect_err(|error| {
            tracing::warn!(%error, "no events from the configuration's folder; it is looked at every {} s, and on SIGHUP", LOOK.as_secs());
        })
        .ok()
}
