//! The interfaces of block drivers, one trait each. `wit/stowage-driver/0.1.0/block.wit` says what each verb must do.

use std::collections::BTreeMap;

use futures::future::BoxFuture;

use super::{
    call::Call,
    error::DriverResult,
    types::{
        AccessMode, Adopted, Answer, Connection, Connector, DisconnectTarget, ManageablePage, NewType, RetypeOutcome, SnapshotUpdate,
        StringMap, Volume, VolumeSnapshot, VolumeUpdate,
    },
};

pub trait Volumes: Send + Sync {
    fn create<'a>(&'a self, call: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>>;
    /// Of what is gone or was never made: success.
    fn delete<'a>(&'a self, call: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<()>>;
    fn extend<'a>(&'a self, call: &'a Call, volume: &'a Volume, new_size_gib: u64) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>>;
}

pub trait VolumeClone: Send + Sync {
    fn clone_volume<'a>(
        &'a self,
        call: &'a Call,
        volume: &'a Volume,
        source: &'a Volume,
    ) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>>;
}

pub trait VolumeFromSnapshot: Send + Sync {
    fn create_from_snapshot<'a>(
        &'a self,
        call: &'a Call,
        volume: &'a Volume,
        snapshot: &'a VolumeSnapshot,
    ) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>>;
}

pub trait VolumeSnapshots: Send + Sync {
    fn create_snapshot<'a>(
        &'a self,
        call: &'a Call,
        snapshot: &'a VolumeSnapshot,
        volume: &'a Volume,
    ) -> BoxFuture<'a, DriverResult<SnapshotUpdate>>;
    fn delete_snapshot<'a>(&'a self, call: &'a Call, snapshot: &'a VolumeSnapshot, volume: &'a Volume) -> BoxFuture<'a, DriverResult<()>>;
}

pub trait VolumeRevert: Send + Sync {
    fn revert<'a>(&'a self, call: &'a Call, volume: &'a Volume, snapshot: &'a VolumeSnapshot) -> BoxFuture<'a, DriverResult<()>>;
}

pub trait VolumeRetype: Send + Sync {
    fn retype<'a>(&'a self, call: &'a Call, volume: &'a Volume, to: &'a NewType) -> BoxFuture<'a, DriverResult<RetypeOutcome>>;
}

pub trait VolumeManage: Send + Sync {
    fn size_of<'a>(&'a self, call: &'a Call, reference: &'a StringMap) -> BoxFuture<'a, DriverResult<u64>>;
    fn adopt<'a>(
        &'a self,
        call: &'a Call,
        volume: &'a Volume,
        reference: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<Adopted<VolumeUpdate>>>;
    fn release<'a>(&'a self, call: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<()>>;
    fn list_manageable<'a>(
        &'a self,
        call: &'a Call,
        pool: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> BoxFuture<'a, DriverResult<ManageablePage>>;
}

/// Of each volume: what is to be stored with it where the target serves it, or why it is lost.
pub type FailedOver = BTreeMap<String, Result<VolumeUpdate, String>>;

pub trait VolumeReplication: Send + Sync {
    fn choose<'a>(&'a self, call: &'a Call, target: Option<&'a str>) -> BoxFuture<'a, DriverResult<String>>;
    /// Of exactly these volumes.
    fn failover<'a>(&'a self, call: &'a Call, target: &'a str, volumes: &'a [Volume]) -> BoxFuture<'a, DriverResult<FailedOver>>;
    fn complete<'a>(&'a self, call: &'a Call, target: &'a str) -> BoxFuture<'a, DriverResult<()>>;
}

/// The host decides from its attachment rows who is still connected (`service::attachment::sharing`): `disconnect` only for what
/// no other attachment of the volume lives on.
pub trait ConnectionInfo: Send + Sync {
    fn validate_connector<'a>(&'a self, call: &'a Call, connector: &'a Connector) -> BoxFuture<'a, DriverResult<()>>;
    fn connect<'a>(
        &'a self,
        call: &'a Call,
        volume: &'a Volume,
        attachment_id: &'a str,
        mode: AccessMode,
        connector: &'a Connector,
    ) -> BoxFuture<'a, DriverResult<Connection>>;
    fn disconnect<'a>(&'a self, call: &'a Call, volume: &'a Volume, target: &'a DisconnectTarget) -> BoxFuture<'a, DriverResult<()>>;
    fn ensure_export<'a>(&'a self, call: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<()>>;
}
