//! One task a file. [`registry`] lists them all.

mod access_anew;
mod adopted;
mod attachment_connect;
mod attachment_disconnect;
mod backend_ensure;
mod backend_exports;
mod backend_failover;
mod block_support;
mod cleanup;
mod connect_turn;
mod connection_end;
mod connection_view;
mod network_update;
mod repeats;
mod server_situation;
mod share_access;
mod share_create;
mod share_delete;
mod share_extend;
mod share_manage;
mod share_moved;
mod share_place;
mod share_revert;
mod share_server_abandon;
mod share_server_create;
mod share_server_delete;
mod share_server_manage;
mod share_server_migrate;
mod share_server_migrate_check;
mod share_server_provide;
mod share_server_support;
mod share_server_unmanage;
mod share_shrink;
mod share_snapshot_access;
mod share_snapshot_create;
mod share_snapshot_delete;
mod share_snapshot_manage;
mod share_snapshot_support;
mod share_snapshot_unmanage;
mod share_support;
mod share_unmanage;
mod snapshot_create;
mod snapshot_delete;
mod snapshot_support;
mod subnet_check;
mod tried;
mod volume_create;
mod volume_delete;
mod volume_export;
mod volume_extend;
mod volume_migrate;
mod volume_retype;
mod volume_revert;
mod volume_source;

pub use attachment_connect::Ask as ConnectAsk;
pub use attachment_disconnect::Ask as DisconnectAsk;
pub use connect_turn::Turns;
pub use volume_migrate::Plan as MigratePlan;

use super::Registry;
use crate::driver::types;

/// Every task of the service.
pub fn registry() -> Registry {
    Registry::default()
        .with(volume_create::VolumeCreate)
        .with(volume_delete::VolumeDelete)
        .with(cleanup::Cleanup::<types::Volume>::new())
        .with(volume_extend::VolumeExtend)
        .with(volume_migrate::VolumeMigrate)
        .with(cleanup::Cleanup::<volume_migrate::Leftover>::new())
        .with(volume_retype::VolumeRetype)
        .with(volume_revert::VolumeRevert)
        .with(snapshot_create::SnapshotCreate)
        .with(snapshot_delete::SnapshotDelete)
        .with(attachment_connect::AttachmentConnect)
        .with(attachment_disconnect::AttachmentDisconnect)
        .with(backend_exports::BackendExports)
        .with(backend_failover::BackendFailover)
        .with(volume_export::VolumeExport)
        .with(share_create::ShareCreate)
        .with(share_delete::ShareDelete)
        .with(share_extend::ShareExtend)
        .with(share_shrink::ShareShrink)
        .with(share_manage::ShareManage)
        .with(share_unmanage::ShareUnmanage)
        .with(share_access::ShareAccess)
        .with(backend_ensure::BackendEnsure)
        .with(share_revert::ShareRevert)
        .with(share_snapshot_create::ShareSnapshotCreate)
        .with(share_snapshot_delete::ShareSnapshotDelete)
        .with(share_snapshot_access::ShareSnapshotAccess)
        .with(share_snapshot_manage::ShareSnapshotManage)
        .with(share_snapshot_unmanage::ShareSnapshotUnmanage)
        .with(cleanup::Cleanup::<types::Share>::new())
        .with(share_server_create::ShareServerCreate)
        .with(share_server_delete::ShareServerDelete)
        .with(share_server_manage::ShareServerManage)
        .with(share_server_migrate_check::ShareServerMigrateCheck)
        .with(share_server_migrate::ShareServerMigrate)
        .with(share_server_abandon::ShareServerAbandon)
        .with(share_server_unmanage::ShareServerUnmanage)
        .with(cleanup::Cleanup::<types::ShareServer>::new())
        .with(subnet_check::SubnetCheck)
        .with(network_update::NetworkUpdate)
}
