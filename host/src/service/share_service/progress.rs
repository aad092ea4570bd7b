//! How far the run of a back end is, or how its last one ended.

use serde::Serialize;

use crate::{app::App, clock, error::Result, store::sql::ensure_shares::EnsureShare};

/// How many single shares are shown.
const SHOWN: i64 = 100;

/// A run as an operator sees it.
#[derive(Debug, Clone, Serialize)]
pub struct EnsureView {
    pub run_id: String,
    pub host: String,
    /// `running`, `done`, `given_up`.
    pub state: String,
    /// `request`, `repeat`, `change`.
    pub cause: String,
    pub reason: Option<String>,
    /// One more run follows.
    pub repeats: bool,
    pub total: i64,
    /// Shares that had their end.
    pub done: i64,
    pub unchanged: i64,
    pub updated: i64,
    pub broken: i64,
    pub failed: i64,
    pub left_out: i64,
    pub skipped: i64,
    /// Shares a second.
    pub rate: f64,
    pub started_at: String,
    pub ended_at: Option<String>,
    /// Those that there is something to say of.
    pub shares: Vec<EnsureShare>,
}

/// None: its shares were never ensured.
///
/// # Errors
/// 404 when there is no such back end of shares.
pub async fn progress(app: &App, host: &str) -> Result<Option<EnsureView>> {
    super::backend(app, host).await?;
    let Some(run) = app.store.ensure_last(host).await? else { return Ok(None) };
    let shares = app.store.ensure_shares(&run.id, SHOWN).await?;
    let micros = (run.ended_at.unwrap_or_else(clock::now) - run.started_at).max(1);
    Ok(Some(EnsureView {
        state: run.outcome.clone().unwrap_or_else(|| "running".to_owned()),
        done: run.done(),
        rate: run.done() as f64 * 1_000_000.0 / micros as f64,
        started_at: clock::utc_text(run.started_at),
        ended_at: run.ended_at.map(clock::utc_text),
        run_id: run.id,
        host: run.backend,
        cause: run.cause,
        reason: run.reason,
        repeats: run.repeat_once,
        total: run.total,
        unchanged: run.unchanged,
        updated: run.updated,
        broken: run.broken,
        failed: run.failed,
        left_out: run.left_out,
        skipped: run.skipped,
        shares,
    }))
}
