//! `migration_cancel`: the share server stays where it is. The job does it.

use std::sync::Arc;

use super::{UnderWay, say};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_server::TaskState,
    error::{Error, Result},
};

/// # Errors
/// 400 when it is not copying nor copied, or its driver cannot end it; 403, 404.
pub async fn cancel(app: &Arc<App>, ctx: &RequestContext, id: &str) -> Result<()> {
    super::super::load_for(app, ctx, id, "share_server:share_server_migration_cancel").await?;
    let mut tx = app.store.begin().await?;
    let under_way = UnderWay::of(&mut tx, id, TaskState::CANCEL_FROM, "cancelled").await?;
    if under_way.source.migration_can_cancel == Some(false) {
        return Err(Error::invalid(format!("The driver that migrates share server {id} cannot cancel that: complete it.")));
    }
    tx.share_server_task(id, TaskState::CANCEL_FROM, TaskState::CancelInProgress, clock::now()).await?;
    under_way.wake(app, &mut tx).await?;
    tx.commit().await?;
    say(ctx, "cancels", id, &under_way.destination_id);
    Ok(())
}
