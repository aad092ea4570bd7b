//! `migration_complete`: what has been copied takes the place of what it was copied from. The job does it.

use std::{sync::Arc, time::Duration};

use super::{UnderWay, say};
use crate::{app::App, clock, context::RequestContext, domain::share_server::TaskState, error::Result};

/// What the last step has at least, however long was thought about it.
const LAST_STEP: Duration = Duration::from_secs(24 * 3600);

/// The destination's id.
///
/// # Errors
/// 400 when it is not all copied, 403, 404.
pub async fn complete(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<String> {
    super::super::load_for(app, ctx, id, "share_server:share_server_migration_complete").await?;
    let mut tx = app.store.begin().await?;
    let under_way = UnderWay::of(&mut tx, id, &[TaskState::Phase1Done], "completed").await?;
    tx.share_server_task(id, &[TaskState::Phase1Done], TaskState::Completing, clock::now()).await?;
    tx.job_may_take(&under_way.job, LAST_STEP).await?;
    under_way.wake(app, &mut tx).await?;
    tx.commit().await?;
    say(ctx, "completes", id, &under_way.destination_id);
    Ok(under_way.destination_id)
}
