//! Holding a volume for a change: whoever was authorised changes the volume that was authorised.
//!
//! A transfer changes a volume's owner. What a caller may do was decided by the owner that was read; the row that is locked
//! must still be that owner's, or the volume is not found, as it is for everybody else's.

use super::load_row_for;
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::refusal,
    store::{Tx, sql::volumes::VolumeRow},
};

/// A transaction that holds the volume, for whoever may do `action` with it.
///
/// # Errors
/// 403, 404.
pub async fn hold(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<(Tx, VolumeRow)> {
    let found = load_row_for(app, ctx, id, action).await?;
    hold_found(app, &found).await
}

/// As [`hold`], of a volume for which the caller was authorised.
///
/// # Errors
/// 404 when it is gone or another project's by now.
pub async fn hold_found(app: &App, found: &VolumeRow) -> Result<(Tx, VolumeRow)> {
    let mut tx = app.store.begin().await?;
    match tx.volume_locked(&found.id).await? {
        Some(row) if row.project_id == found.project_id => Ok((tx, row)),
        _ => Err(refusal::volume_not_found(&found.id)),
    }
}
