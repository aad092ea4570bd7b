//! The block interfaces over a 0.1 component.

use async_trait::async_trait;

use super::{
    call::{Adapter, ask},
    convert::{IntoHost as _, ToWit as _},
};
use crate::driver::{
    Call, CapabilityReport, DriverError, DriverResult,
    answer::{self, checked},
    backend::Capabilities,
    block::{ConnectionInfo, VolumeClone, VolumeFromSnapshot, VolumeManage, VolumeRetype, VolumeRevert, VolumeSnapshots, Volumes},
    capability::ShareServerMode,
    types::{
        AccessMode, Adopted, Answer, Connection, Connector, DisconnectTarget, ManageablePage, NewType, RetypeOutcome, SnapshotUpdate,
        StringMap, Volume, VolumeSnapshot, VolumeUpdate,
    },
};

#[async_trait]
impl Capabilities for Adapter {
    async fn report(&self, call: &Call) -> DriverResult<CapabilityReport> {
        ask!(self, call, "capabilities.report", capabilities.call_report(), w => self.report(w.host()))
    }
}

impl Adapter {
    /// A report must be possible, and must not promise what the component does not export.
    fn report(&self, mut report: CapabilityReport) -> DriverResult<CapabilityReport> {
        report.check()?;
        if self.exports.share_servers.is_none() && report.features.share_server_mode != ShareServerMode::WithoutServers {
            return Err(DriverError::wrong_answer("the report says that share servers are built, but share-servers is not exported"));
        }
        report.features.network_allocation_update_support &= self.exports.allocations.is_some();
        Ok(report)
    }
}

#[async_trait]
impl Volumes for Adapter {
    async fn create(&self, call: &Call, volume: &Volume) -> DriverResult<Answer<VolumeUpdate>> {
        ask!(self, call, "volumes.create", volumes.call_create(&volume.wit()), w => checked(w.host()))
    }
    async fn delete(&self, call: &Call, volume: &Volume) -> DriverResult<()> {
        ask!(self, call, "volumes.delete", volumes.call_delete(&volume.wit()), w => Ok(w))
    }
    async fn extend(&self, call: &Call, volume: &Volume, new_size_gib: u64) -> DriverResult<Answer<VolumeUpdate>> {
        ask!(self, call, "volumes.extend", volumes.call_extend(&volume.wit(), new_size_gib), w => checked(w.host()))
    }
}

#[async_trait]
impl VolumeClone for Adapter {
    async fn clone_volume(&self, call: &Call, volume: &Volume, source: &Volume) -> DriverResult<Answer<VolumeUpdate>> {
        ask!(self, call, "volume-clone.clone", volume_clone.call_clone(&volume.wit(), &source.wit()), w => checked(w.host()))
    }
}

#[async_trait]
impl VolumeFromSnapshot for Adapter {
    async fn create_from_snapshot(&self, call: &Call, volume: &Volume, snapshot: &VolumeSnapshot) -> DriverResult<Answer<VolumeUpdate>> {
        ask!(self, call, "volume-from-snapshot.create-from-snapshot", volume_from_snapshot.call_create_from_snapshot(&volume.wit(), &snapshot.wit()), w => checked(w.host()))
    }
}

#[async_trait]
impl VolumeSnapshots for Adapter {
    async fn create_snapshot(&self, call: &Call, snapshot: &VolumeSnapshot, volume: &Volume) -> DriverResult<SnapshotUpdate> {
        ask!(self, call, "volume-snapshots.create", volume_snapshots.call_create(&snapshot.wit(), &volume.wit()), w => checked(w.host()))
    }
    async fn delete_snapshot(&self, call: &Call, snapshot: &VolumeSnapshot, volume: &Volume) -> DriverResult<()> {
        ask!(self, call, "volume-snapshots.delete", volume_snapshots.call_delete(&snapshot.wit(), &volume.wit()), w => Ok(w))
    }
}

#[async_trait]
impl VolumeRevert for Adapter {
    async fn revert(&self, call: &Call, volume: &Volume, snapshot: &VolumeSnapshot) -> DriverResult<()> {
        ask!(self, call, "volume-revert.revert", volume_revert.call_revert(&volume.wit(), &snapshot.wit()), w => Ok(w))
    }
}

#[async_trait]
impl VolumeRetype for Adapter {
    async fn retype(&self, call: &Call, volume: &Volume, to: &NewType) -> DriverResult<RetypeOutcome> {
        ask!(self, call, "volume-retype.retype", volume_retype.call_retype(&volume.wit(), &to.wit()), w => checked(w.host()))
    }
}

#[async_trait]
impl VolumeManage for Adapter {
    async fn size_of(&self, call: &Call, reference: &StringMap) -> DriverResult<u64> {
        ask!(self, call, "volume-manage.size-of", volume_manage.call_size_of(&reference.wit()), w => Ok(w))
    }
    async fn adopt(&self, call: &Call, volume: &Volume, reference: &StringMap) -> DriverResult<Adopted<VolumeUpdate>> {
        ask!(self, call, "volume-manage.adopt", volume_manage.call_adopt(&volume.wit(), &reference.wit()), w => checked(w.host()))
    }
    async fn release(&self, call: &Call, volume: &Volume) -> DriverResult<()> {
        ask!(self, call, "volume-manage.release", volume_manage.call_release(&volume.wit()), w => Ok(w))
    }
    async fn list_manageable(&self, call: &Call, pool: &str, after: Option<&str>, limit: u32) -> DriverResult<ManageablePage> {
        ask!(self, call, "volume-manage.list-manageable", volume_manage.call_list_manageable(pool, after, limit), w => answer::page(limit, w.host()))
    }
}

#[async_trait]
impl ConnectionInfo for Adapter {
    async fn validate_connector(&self, call: &Call, connector: &Connector) -> DriverResult<()> {
        ask!(self, call, "connection-info.validate-connector", connection_info.call_validate_connector(&connector.wit()), w => Ok(w))
    }
    async fn connect(
        &self,
        call: &Call,
        volume: &Volume,
        attachment_id: &str,
        mode: AccessMode,
        connector: &Connector,
    ) -> DriverResult<Connection> {
        ask!(self, call, "connection-info.connect", connection_info.call_connect(&volume.wit(), attachment_id, mode.wit(), &connector.wit()), w => checked(w.host()))
    }
    async fn disconnect(&self, call: &Call, volume: &Volume, target: &DisconnectTarget) -> DriverResult<()> {
        ask!(self, call, "connection-info.disconnect", connection_info.call_disconnect(&volume.wit(), &target.wit()), w => Ok(w))
    }
    async fn ensure_export(&self, call: &Call, volume: &Volume) -> DriverResult<()> {
        ask!(self, call, "connection-info.ensure-export", connection_info.call_ensure_export(&volume.wit()), w => Ok(w))
    }
}
