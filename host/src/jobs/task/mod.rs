//! One task a file. [`registry`] lists them all.

mod attachment_connect;
mod attachment_disconnect;
mod block_support;
mod connect_turn;
mod connection_view;
mod patience;
mod volume_cleanup;
mod volume_create;
mod volume_delete;

pub use attachment_connect::Ask as ConnectAsk;
pub use connect_turn::Turns;

use super::Registry;

/// Every task of the service.
pub fn registry() -> Registry {
    Registry::default()
        .with(volume_create::VolumeCreate)
        .with(volume_delete::VolumeDelete)
        .with(volume_cleanup::VolumeCleanup)
        .with(attachment_connect::AttachmentConnect)
        .with(attachment_disconnect::AttachmentDisconnect)
}
