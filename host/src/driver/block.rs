//! The interfaces of block drivers, one trait each. `wit/stowage-driver/0.1.0/block.wit` says what each verb must do.

use async_trait::async_trait;

use super::{
    call::Call,
    error::DriverResult,
    types::{
        AccessMode, Adopted, Answer, Connection, Connector, DisconnectTarget, ManageablePage, NewType, RetypeOutcome, SnapshotUpdate,
        StringMap, Volume, VolumeSnapshot, VolumeUpdate,
    },
};

#[async_trait]
pub trait Volumes: Send + Sync {
    async fn create(&self, call: &Call, volume: &Volume) -> DriverResult<Answer<VolumeUpdate>>;
    /// Of what is gone or was never made: success.
    async fn delete(&self, call: &Call, volume: &Volume) -> DriverResult<()>;
    async fn extend(&self, call: &Call, volume: &Volume, new_size_gib: u64) -> DriverResult<Answer<VolumeUpdate>>;
}

#[async_trait]
pub trait VolumeClone: Send + Sync {
    async fn clone_volume(&self, call: &Call, volume: &Volume, source: &Volume) -> DriverResult<Answer<VolumeUpdate>>;
}

#[async_trait]
pub trait VolumeFromSnapshot: Send + Sync {
    async fn create_from_snapshot(&self, call: &Call, volume: &Volume, snapshot: &VolumeSnapshot) -> DriverResult<Answer<VolumeUpdate>>;
}

#[async_trait]
pub trait VolumeSnapshots: Send + Sync {
    async fn create_snapshot(&self, call: &Call, snapshot: &VolumeSnapshot, volume: &Volume) -> DriverResult<SnapshotUpdate>;
    async fn delete_snapshot(&self, call: &Call, snapshot: &VolumeSnapshot, volume: &Volume) -> DriverResult<()>;
}

#[async_trait]
pub trait VolumeRevert: Send + Sync {
    async fn revert(&self, call: &Call, volume: &Volume, snapshot: &VolumeSnapshot) -> DriverResult<()>;
}

#[async_trait]
pub trait VolumeRetype: Send + Sync {
    async fn retype(&self, call: &Call, volume: &Volume, to: &NewType) -> DriverResult<RetypeOutcome>;
}

#[async_trait]
pub trait VolumeManage: Send + Sync {
    async fn size_of(&self, call: &Call, reference: &StringMap) -> DriverResult<u64>;
    async fn adopt(&self, call: &Call, volume: &Volume, reference: &StringMap) -> DriverResult<Adopted<VolumeUpdate>>;
    async fn release(&self, call: &Call, volume: &Volume) -> DriverResult<()>;
    async fn list_manageable(&self, call: &Call, pool: &str, after: Option<&str>, limit: u32) -> DriverResult<ManageablePage>;
}

/// The host decides from its attachment rows who is still connected: `disconnect` only for the last attachment of a volume
/// on a connector's host.
#[async_trait]
pub trait ConnectionInfo: Send + Sync {
    async fn validate_connector(&self, call: &Call, connector: &Connector) -> DriverResult<()>;
    async fn connect(
        &self,
        call: &Call,
        volume: &Volume,
        attachment_id: &str,
        mode: AccessMode,
        connector: &Connector,
    ) -> DriverResult<Connection>;
    async fn disconnect(&self, call: &Call, volume: &Volume, target: &DisconnectTarget) -> DriverResult<()>;
    async fn ensure_export(&self, call: &Call, volume: &Volume) -> DriverResult<()>;
}
