//! The block interfaces over a 0.1 component.

use futures::future::BoxFuture;

use super::{
    bindings::guest::volume_replication::VolumeState,
    call::{Adapter, ask},
    convert::{IntoHost as _, ToWit as _},
};
use crate::driver::{
    Call, CapabilityReport, DriverError, DriverResult,
    answer::{self, checked},
    backend::Capabilities,
    block::{
        ConnectionInfo, FailedOver, VolumeClone, VolumeFromSnapshot, VolumeManage, VolumeReplication, VolumeRetype, VolumeRevert,
        VolumeSnapshots, Volumes,
    },
    capability::ShareServerMode,
    types::{
        AccessMode, Adopted, Answer, Connection, Connector, DisconnectTarget, ManageablePage, NewType, RetypeOutcome, SnapshotUpdate,
        StringMap, Volume, VolumeSnapshot, VolumeUpdate,
    },
};

impl Capabilities for Adapter {
    fn report<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, DriverResult<CapabilityReport>> {
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

impl Volumes for Adapter {
    fn create<'a>(&'a self, call: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>> {
        ask!(self, call, "volumes.create", volumes.call_create(&volume.wit()), w => checked(w.host()))
    }
    fn delete<'a>(&'a self, call: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "volumes.delete", volumes.call_delete(&volume.wit()), w => Ok(w))
    }
    fn extend<'a>(&'a self, call: &'a Call, volume: &'a Volume, new_size_gib: u64) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>> {
        ask!(self, call, "volumes.extend", volumes.call_extend(&volume.wit(), new_size_gib), w => checked(w.host()))
    }
}

impl VolumeClone for Adapter {
    fn clone_volume<'a>(
        &'a self,
        call: &'a Call,
        volume: &'a Volume,
        source: &'a Volume,
    ) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>> {
        ask!(self, call, "volume-clone.clone", volume_clone.call_clone(&volume.wit(), &source.wit()), w => checked(w.host()))
    }
}

impl VolumeFromSnapshot for Adapter {
    fn create_from_snapshot<'a>(
        &'a self,
        call: &'a Call,
        volume: &'a Volume,
        snapshot: &'a VolumeSnapshot,
    ) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>> {
        ask!(self, call, "volume-from-snapshot.create-from-snapshot", volume_from_snapshot.call_create_from_snapshot(&volume.wit(), &snapshot.wit()), w => checked(w.host()))
    }
}

impl VolumeSnapshots for Adapter {
    fn create_snapshot<'a>(
        &'a self,
        call: &'a Call,
        snapshot: &'a VolumeSnapshot,
        volume: &'a Volume,
    ) -> BoxFuture<'a, DriverResult<SnapshotUpdate>> {
        ask!(self, call, "volume-snapshots.create", volume_snapshots.call_create(&snapshot.wit(), &volume.wit()), w => checked(w.host()))
    }
    fn delete_snapshot<'a>(&'a self, call: &'a Call, snapshot: &'a VolumeSnapshot, volume: &'a Volume) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "volume-snapshots.delete", volume_snapshots.call_delete(&snapshot.wit(), &volume.wit()), w => Ok(w))
    }
}

impl VolumeRevert for Adapter {
    fn revert<'a>(&'a self, call: &'a Call, volume: &'a Volume, snapshot: &'a VolumeSnapshot) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "volume-revert.revert", volume_revert.call_revert(&volume.wit(), &snapshot.wit()), w => Ok(w))
    }
}

impl VolumeRetype for Adapter {
    fn retype<'a>(&'a self, call: &'a Call, volume: &'a Volume, to: &'a NewType) -> BoxFuture<'a, DriverResult<RetypeOutcome>> {
        ask!(self, call, "volume-retype.retype", volume_retype.call_retype(&volume.wit(), &to.wit()), w => checked(w.host()))
    }
}

impl VolumeManage for Adapter {
    fn size_of<'a>(&'a self, call: &'a Call, reference: &'a StringMap) -> BoxFuture<'a, DriverResult<u64>> {
        ask!(self, call, "volume-manage.size-of", volume_manage.call_size_of(&reference.wit()), w => Ok(w))
    }
    fn adopt<'a>(
        &'a self,
        call: &'a Call,
        volume: &'a Volume,
        reference: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<Adopted<VolumeUpdate>>> {
        ask!(self, call, "volume-manage.adopt", volume_manage.call_adopt(&volume.wit(), &reference.wit()), w => checked(w.host()))
    }
    fn release<'a>(&'a self, call: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "volume-manage.release", volume_manage.call_release(&volume.wit()), w => Ok(w))
    }
    fn list_manageable<'a>(
        &'a self,
        call: &'a Call,
        pool: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> BoxFuture<'a, DriverResult<ManageablePage>> {
        ask!(self, call, "volume-manage.list-manageable", volume_manage.call_list_manageable(pool, after, limit), w => answer::page(limit, w.host()))
    }
}

impl VolumeReplication for Adapter {
    fn choose<'a>(&'a self, call: &'a Call, target: Option<&'a str>) -> BoxFuture<'a, DriverResult<String>> {
        ask!(self, call, "volume-replication.choose", volume_replication.call_choose(target), w => answer::target(w))
    }
    fn failover<'a>(&'a self, call: &'a Call, target: &'a str, volumes: &'a [Volume]) -> BoxFuture<'a, DriverResult<FailedOver>> {
        ask!(self, call, "volume-replication.failover", volume_replication.call_failover(target, &volumes.wit()), w => {
            let entries = w.into_iter().map(|f| match f.state {
                VolumeState::Serving(update) => (f.id, Ok(update.host())),
                VolumeState::Lost(why) => (f.id, Err(why)),
            });
            answer::failed_over(volumes, entries)
        })
    }
    fn complete<'a>(&'a self, call: &'a Call, target: &'a str) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "volume-replication.complete", volume_replication.call_complete(target), w => Ok(w))
    }
}

impl ConnectionInfo for Adapter {
    fn validate_connector<'a>(&'a self, call: &'a Call, connector: &'a Connector) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "connection-info.validate-connector", connection_info.call_validate_connector(&connector.wit()), w => Ok(w))
    }
    fn connect<'a>(
        &'a self,
        call: &'a Call,
        volume: &'a Volume,
        attachment_id: &'a str,
        mode: AccessMode,
        connector: &'a Connector,
    ) -> BoxFuture<'a, DriverResult<Connection>> {
        ask!(self, call, "connection-info.connect", connection_info.call_connect(&volume.wit(), attachment_id, mode.wit(), &connector.wit()), w => checked(w.host()))
    }
    fn disconnect<'a>(&'a self, call: &'a Call, volume: &'a Volume, target: &'a DisconnectTarget) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "connection-info.disconnect", connection_info.call_disconnect(&volume.wit(), &target.wit()), w => Ok(w))
    }
    fn ensure_export<'a>(&'a self, call: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "connection-info.ensure-export", connection_info.call_ensure_export(&volume.wit()), w => Ok(w))
    }
}
