//! One task a file. [`registry`] lists them all.

mod attachment_connect;
mod attachment_disconnect;
mod block_support;
mod connect_turn;
mod connection_view;
mod patience;
mod snapshot_create;
mod snapshot_delete;
mod snapshot_support;
mod volume_cleanup;
mod volume_create;
mod volume_delete;
mod volume_extend;
mod volume_retype;
mod volume_revert;
mod volume_source;

pub use attachment_connect::Ask as ConnectAsk;
pub use attachment_disconnect::Ask as DisconnectAsk;
pub use connect_turn::Turns;

use super::Registry;

/// Every task of the service.
pub fn registry() -> Registry {
    Registry::default()
        .with(volume_create::VolumeCreate)
        .with(volume_delete::VolumeDelete)
        .with(volume_cleanup::VolumeCleanup)
        .with(volume_extend::VolumeExtend)
        .with(volume_retype::VolumeRetype)
        .with(volume_revert::VolumeRevert)
        .with(snapshot_create::SnapshotCreate)
        .with(snapshot_delete::SnapshotDelete)
        .with(attachment_connect::AttachmentConnect)
        .with(attachment_disconnect::AttachmentDisconnect)
}
