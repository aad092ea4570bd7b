//! Migrations of share servers.

use http::StatusCode;
use serde_json::json;

use crate::{
    api::reply::Reply,
    error::Result,
    service::share_server::migration::{MigrateServer, check::Checked, progress::Progress},
};

/// What could be of what was asked for. Upstream does not say why something could not; `reason` is ours.
pub fn checked(ask: &MigrateServer, found: &Checked) -> Result<Reply> {
    let can = found.verdict.abilities;
    let mut shown = json!({
        "compatible": found.verdict.because.is_none(),
        "requested_capabilities": {
            "host": ask.host,
            "share_network_id": ask.new_share_network_id,
            "writable": ask.writable,
            "nondisruptive": ask.nondisruptive,
            "preserve_snapshots": ask.preserve_snapshots,
        },
        "supported_capabilities": {
            "writable": can.writable,
            // the destination has addresses of its own
            "nondisruptive": false,
            "preserve_snapshots": can.preserve_snapshots,
            "share_network_id": found.share_network_id,
            "migration_cancel": can.cancel,
            "migration_get_progress": can.progress,
        },
    });
    if let Some(why) = &found.verdict.because {
        shown["reason"] = json!(why);
    }
    Reply::json(StatusCode::OK, &shown)
}

pub fn progress(at: &Progress) -> Result<Reply> {
    let shown = json!({
        "total_progress": at.total,
        "task_state": at.task_state,
        "destination_share_server_id": at.destination_id,
    });
    Reply::json(StatusCode::OK, &shown)
}

pub fn completing(destination_id: &str) -> Result<Reply> {
    Reply::json(StatusCode::OK, &json!({ "destination_share_server_id": destination_id }))
}
