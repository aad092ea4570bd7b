//! `migration_get_progress`: how far it is.

use crate::{
    app::App,
    context::RequestContext,
    domain::share_server::{ServerStatus, TaskState},
    error::{Error, Result},
    policy::Target,
};

/// How a migration stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// In percent.
    pub total: i64,
    pub task_state: String,
    pub destination_id: String,
}

/// # Errors
/// 400 also for a server that is not there, as upstream answers; 403.
pub async fn progress(app: &App, ctx: &RequestContext, id: &str) -> Result<Progress> {
    app.policy.check(ctx, "share_server:share_server_migration_get_progress", &Target::own(ctx))?;
    let none = || Error::invalid(format!("Migration progress of share server {id:.255} cannot be obtained: it is not being migrated."));
    let source = match app.store.share_server(id).await?.map(|s| s.row) {
        Some(source) if source.status == ServerStatus::ServerMigrating.as_str() => source,
        // it has moved, and is going or gone
        found if found.as_ref().is_none_or(|s| s.task_state.as_deref() == Some(TaskState::Success.as_str())) => {
            let destination_id = app.store.migrated_to(id).await?.ok_or_else(none)?;
            return Ok(Progress { total: 100, task_state: TaskState::Success.as_str().to_owned(), destination_id });
        }
        _ => return Err(none()),
    };
    let task = source.task_state.as_deref().and_then(TaskState::parse).ok_or_else(none)?;
    let destination_id = app.store.migration_destination(id).await?.ok_or_else(none)?;
    // the driver may have said less than all last, before all was copied
    let total = task.percent().max(source.migration_percent.unwrap_or(0)).clamp(0, 100);
    Ok(Progress { total, task_state: task.as_str().to_owned(), destination_id })
}
