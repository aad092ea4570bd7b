//! Ends connections, and never one that another attachment lives on: that keeps it, in the mode that is its own
//! ([`crate::service::attachment::sharing`] says which attachments share one).
//!
//! What is gone already has ended. A mode that the driver cannot change while the connection is used stays wider than needed;
//! any other failure is the caller's, who repeats the whole.

use super::block_support as support;
use crate::{
    driver::{
        Backend, Call, DriverResult, ErrorKind,
        types::{self, AccessMode, Connector, DisconnectTarget},
    },
    jobs::{JobContext, TaskError},
    service::attachment::sharing::{Living, Share},
};

/// Who lives on the volume's connections, but for one attachment.
pub(super) async fn living(cx: &JobContext, volume_id: &str, but: Option<&str>) -> Result<Vec<Living>, TaskError> {
    let all = cx.app.store.attachments_of(volume_id).await?;
    Ok(all.iter().filter(|a| Some(a.id.as_str()) != but).filter_map(Living::of).collect())
}

/// Ends what nobody lives on; what `left`, the mode of who has gone, gave the others beside is taken back.
pub(super) async fn leave(cx: &JobContext, backend: &Backend, told: &types::Volume, share: &Share, left: AccessMode) -> DriverResult<()> {
    if let Some(free) = share.free.clone() {
        end(cx, backend, told, free).await?;
    }
    narrow(&support::call(cx, "narrow"), backend, told, share, left).await
}

/// As [`leave`], of what a connect of this very claim may have made, or may yet make: its call may still be on its way.
pub(super) async fn take_back(
    cx: &JobContext,
    backend: &Backend,
    told: &types::Volume,
    share: &Share,
    left: AccessMode,
) -> DriverResult<()> {
    if let Some(free) = share.free.clone() {
        undo(cx, backend, told, free).await?;
    }
    narrow(&support::undo_call(cx, "narrow"), backend, told, share, left).await
}

/// Ends the connection of one connector. What is gone is gone.
pub(super) async fn end(cx: &JobContext, backend: &Backend, told: &types::Volume, connector: Connector) -> DriverResult<()> {
    disconnect(&support::call(cx, "disconnect"), backend, told, DisconnectTarget::Connector(connector)).await
}

/// Ends every connection of the volume.
pub(super) async fn end_all(cx: &JobContext, backend: &Backend, told: &types::Volume) -> DriverResult<()> {
    disconnect(&support::call(cx, "disconnect"), backend, told, DisconnectTarget::All).await
}

/// As [`end`], of what a call of this very claim that is still on its way may yet make.
pub(super) async fn undo(cx: &JobContext, backend: &Backend, told: &types::Volume, connector: Connector) -> DriverResult<()> {
    disconnect(&support::undo_call(cx, "undo"), backend, told, DisconnectTarget::Connector(connector)).await
}

async fn disconnect(call: &Call, backend: &Backend, told: &types::Volume, target: DisconnectTarget) -> DriverResult<()> {
    match backend.need_connection_info()?.disconnect(call, told, &target).await {
        Err(e) if e.kind == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

async fn narrow(call: &Call, backend: &Backend, told: &types::Volume, share: &Share, left: AccessMode) -> DriverResult<()> {
    let Some(stays) = share.narrowed_by(left) else { return Ok(()) };
    match backend.need_connection_info()?.connect(call, told, &stays.attachment_id, stays.mode, &stays.connector).await {
        Err(e) if e.kind == ErrorKind::Unsupported => {
            tracing::info!(
                volume_id = told.id,
                attachment_id = stays.attachment_id,
                "a connection stays writable: its mode cannot be changed in use"
            );
            Ok(())
        }
        other => other.map(drop),
    }
}
