//! A process and its row: registered at the start, looked at in between, gone with the process.

use std::time::Duration;

use super::binaries;
use crate::{
    app::App,
    error::Result,
    program,
    store::{StoreResult, sql::processes::ProcessRow},
};

/// How late other processes follow at most.
pub const EVERY: Duration = Duration::from_secs(2);
/// A process that was not heard of for so long has ended.
const SEEN_FOR: Duration = Duration::from_secs(30);
/// SQLite's only process: longer than any lives.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

fn seen_for(app: &App) -> Duration {
    if app.store.is_sqlite() { FOR_EVER } else { SEEN_FOR }
}

/// Registers this process, with the levels that are set in it. On SQLite every other process has ended.
///
/// # Errors
/// The store's.
pub async fn register(app: &App) -> StoreResult<()> {
    let row = ProcessRow {
        id: app.process_id.clone(),
        label: program::label(),
        binaries: binaries(&app.config.get()),
        log_directives: app.log.directives(),
    };
    let mut tx = app.store.begin().await?;
    tx.remove_ended_processes(app.store.is_sqlite()).await?;
    tx.add_process(&row, seen_for(app)).await?;
    for (prefix, level) in app.log.set_levels() {
        tx.set_log_level(&row.id, &prefix, &level.to_string()).await?;
    }
    tx.commit().await
}

/// Follows what was set for this process. `says_so`: says that it lives, also when nothing is new.
///
/// # Errors
/// The store's; the next look follows.
pub async fn look(app: &App, says_so: bool) -> Result<()> {
    let id = &app.process_id;
    if !app.store.has_process(id).await? {
        // it was stopped for long, or never registered: what is set in it stays set
        return Ok(register(app).await?);
    }
    let rows = app.store.process_log_levels(id).await?;
    let levels = rows.into_iter().filter_map(|row| Some((row.prefix, row.level.parse().ok()?))).collect();
    if !app.log.set(levels) && !says_so {
        return Ok(());
    }
    let mut tx = app.store.begin().await?;
    tx.process_lives(id, &app.log.directives(), seen_for(app)).await?;
    tx.commit().await?;
    Ok(())
}

/// The configuration's level of now; another one than before ends what was set.
///
/// # Errors
/// The store's. The configuration's level is in force.
pub async fn configure(app: &App, level: &str) -> Result<()> {
    if !app.log.configure(level) {
        return Ok(());
    }
    let mut tx = app.store.begin().await?;
    tx.forget_log_levels(&app.process_id).await?;
    tx.process_lives(&app.process_id, &app.log.directives(), seen_for(app)).await?;
    tx.commit().await?;
    Ok(())
}

/// The process ends: nobody is told of it any more.
///
/// # Errors
/// The store's; the row lapses by itself.
pub async fn leave(app: &App) -> StoreResult<()> {
    let mut tx = app.store.begin().await?;
    tx.remove_process(&app.process_id).await?;
    tx.commit().await
}
