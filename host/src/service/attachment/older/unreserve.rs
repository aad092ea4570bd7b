//! `os-unreserve`: takes an `os-reserve` back, and what was connected on its behalf. Without a reservation it does nothing.

use super::{awaits_attach, hold};
use crate::{
    app::App,
    context::RequestContext,
    domain::attachment::OlderAction,
    error::Result,
    jobs::task::DisconnectAsk,
    service::attachment::{delete::take_away, wait},
};

/// # Errors
/// 403, 404, 500 when the back end failed, 504.
pub async fn unreserve(app: &App, ctx: &RequestContext, id: &str) -> Result<()> {
    let (mut tx, volume) = hold(app, ctx, id, "volume_extension:volume_actions:unreserve").await?;
    let all = tx.attachments_of(id).await?;
    // the newest that nothing was connected for
    let reserved = all.iter().filter(|a| a.is_older(OlderAction::Reserve) && awaits_attach(a));
    let Some(reserved) = reserved.max_by_key(|a| (!a.may_be_connected(), a.created_at)) else { return Ok(()) };
    let ask = DisconnectAsk { status: reserved.status.clone(), ..DisconnectAsk::default() };
    let job = take_away(app, ctx, &mut tx, &volume, reserved, &ask).await?;
    tx.commit().await?;
    match job {
        Some(job) => wait(app, ctx, &job).await,
        None => Ok(()),
    }
}
