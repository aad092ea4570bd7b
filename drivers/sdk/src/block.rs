//! The interfaces of volumes. What a verb must do, and what a repeat of it must do, stands in `wit/stowage-driver/*/block.wit`.

use crate::{
    bindings,
    context::Context,
    driver::{Driver, Glue, run},
    error::{Result, ServerResult},
    types::*,
};

/// Interface `volumes`.
pub trait Volumes: Driver {
    /// Makes an empty volume. Repeat: the volume with this id.
    fn create_volume(&self, cx: &Context, volume: &Volume) -> Result<VolumeOutcome>;
    /// Repeat, or never made: success.
    fn delete_volume(&self, cx: &Context, volume: &Volume) -> Result<()>;
    /// Repeat, or already that large: success. Never shrinks.
    fn extend_volume(&self, cx: &Context, volume: &Volume, new_size_gib: u64) -> Result<VolumeOutcome>;
}

impl<D: Volumes> bindings::volumes::Guest for Glue<D> {
    fn create(call: Call, volume: Volume) -> Result<VolumeOutcome> {
        run("volumes.create", call, |d: &D, cx| d.create_volume(cx, &volume))
    }
    fn delete(call: Call, volume: Volume) -> Result<()> {
        run("volumes.delete", call, |d: &D, cx| d.delete_volume(cx, &volume))
    }
    fn extend(call: Call, volume: Volume, new_size_gib: u64) -> Result<VolumeOutcome> {
        run("volumes.extend", call, |d: &D, cx| d.extend_volume(cx, &volume, new_size_gib))
    }
}

/// Interface `volume-clone`.
pub trait VolumeClone: Driver {
    /// `volume` may be larger than `source`, which may be attached and written to.
    fn clone_volume(&self, cx: &Context, volume: &Volume, source: &Volume) -> Result<VolumeOutcome>;
}

impl<D: VolumeClone> bindings::volume_clone::Guest for Glue<D> {
    fn clone(call: Call, volume: Volume, source: Volume) -> Result<VolumeOutcome> {
        run("volume-clone.clone", call, |d: &D, cx| d.clone_volume(cx, &volume, &source))
    }
}

/// Interface `volume-from-snapshot`.
pub trait VolumeFromSnapshot: Driver {
    /// `volume` may be larger than the snapshot.
    fn create_volume_from_snapshot(&self, cx: &Context, volume: &Volume, snapshot: &VolumeSnapshot) -> Result<VolumeOutcome>;
}

impl<D: VolumeFromSnapshot> bindings::volume_from_snapshot::Guest for Glue<D> {
    fn create_from_snapshot(call: Call, volume: Volume, snapshot: VolumeSnapshot) -> Result<VolumeOutcome> {
        run("volume-from-snapshot.create-from-snapshot", call, |d: &D, cx| d.create_volume_from_snapshot(cx, &volume, &snapshot))
    }
}

/// Interface `volume-snapshots`.
pub trait VolumeSnapshots: Driver {
    /// Repeat: the snapshot as it was first taken.
    fn create_snapshot(&self, cx: &Context, snapshot: &VolumeSnapshot, volume: &Volume) -> Result<SnapshotUpdate>;
    /// Repeat, or never made: success. `busy`: something depends on it.
    fn delete_snapshot(&self, cx: &Context, snapshot: &VolumeSnapshot, volume: &Volume) -> Result<()>;
}

impl<D: VolumeSnapshots> bindings::volume_snapshots::Guest for Glue<D> {
    fn create(call: Call, snapshot: VolumeSnapshot, volume: Volume) -> Result<SnapshotUpdate> {
        run("volume-snapshots.create", call, |d: &D, cx| d.create_snapshot(cx, &snapshot, &volume))
    }
    fn delete(call: Call, snapshot: VolumeSnapshot, volume: Volume) -> Result<()> {
        run("volume-snapshots.delete", call, |d: &D, cx| d.delete_snapshot(cx, &snapshot, &volume))
    }
}

/// Interface `volume-revert`.
pub trait VolumeRevert: Driver {
    /// The volume is not attached. Repeat: the same content again.
    fn revert_volume(&self, cx: &Context, volume: &Volume, snapshot: &VolumeSnapshot) -> Result<()>;
}

impl<D: VolumeRevert> bindings::volume_revert::Guest for Glue<D> {
    fn revert(call: Call, volume: Volume, snapshot: VolumeSnapshot) -> Result<()> {
        run("volume-revert.revert", call, |d: &D, cx| d.revert_volume(cx, &volume, &snapshot))
    }
}

/// Interface `volume-retype`.
pub trait VolumeRetype: Driver {
    /// Repeat, or already so: `done`.
    fn retype_volume(&self, cx: &Context, volume: &Volume, to: &NewType) -> Result<RetypeOutcome>;
}

impl<D: VolumeRetype> bindings::volume_retype::Guest for Glue<D> {
    fn retype(call: Call, volume: Volume, to: NewType) -> Result<RetypeOutcome> {
        run("volume-retype.retype", call, |d: &D, cx| d.retype_volume(cx, &volume, &to))
    }
}

/// Interface `volume-manage`.
pub trait VolumeManage: Driver {
    /// In GiB, rounded up. `invalid`: no such object; `busy`: already managed.
    fn size_of(&self, cx: &Context, reference: &[KeyValue]) -> Result<u64>;
    /// Takes it over. Repeat: the same.
    fn adopt_volume(&self, cx: &Context, volume: &Volume, reference: &[KeyValue]) -> Result<Adopted>;
    /// Forgets it and leaves its data alone. Repeat: success.
    fn release_volume(&self, cx: &Context, volume: &Volume) -> Result<()>;
    /// What could be adopted from `pool`.
    fn list_manageable(&self, cx: &Context, pool: &str, after: Option<&str>, limit: u32) -> Result<ManageablePage>;
}

impl<D: VolumeManage> bindings::volume_manage::Guest for Glue<D> {
    fn size_of(call: Call, reference: Vec<KeyValue>) -> Result<u64> {
        run("volume-manage.size-of", call, |d: &D, cx| d.size_of(cx, &reference))
    }
    fn adopt(call: Call, volume: Volume, reference: Vec<KeyValue>) -> Result<Adopted> {
        run("volume-manage.adopt", call, |d: &D, cx| d.adopt_volume(cx, &volume, &reference))
    }
    fn release(call: Call, volume: Volume) -> Result<()> {
        run("volume-manage.release", call, |d: &D, cx| d.release_volume(cx, &volume))
    }
    fn list_manageable(call: Call, pool: String, after: Option<String>, limit: u32) -> Result<ManageablePage> {
        run("volume-manage.list-manageable", call, |d: &D, cx| d.list_manageable(cx, &pool, after.as_deref(), limit))
    }
}

/// Interface `volume-replication`. The report's `extra` names the targets: `replication_targets`.
pub trait VolumeReplication: Driver {
    /// None: the driver's own choice. `default`: back to the back end's own array. `invalid`: no such target.
    fn choose_target(&self, cx: &Context, target: Option<&str>) -> Result<String>;
    /// One entry for each volume. Repeat, or there already: `serving`.
    fn fail_over(&self, cx: &Context, target: &str, volumes: &[Volume]) -> Result<Vec<FailedOver>>;
    /// The target is the active one. Repeat: success.
    fn complete_failover(&self, cx: &Context, target: &str) -> Result<()>;
}

impl<D: VolumeReplication> bindings::volume_replication::Guest for Glue<D> {
    fn choose(call: Call, target: Option<String>) -> Result<String> {
        run("volume-replication.choose", call, |d: &D, cx| d.choose_target(cx, target.as_deref()))
    }
    fn failover(call: Call, target: String, volumes: Vec<Volume>) -> Result<Vec<FailedOver>> {
        run("volume-replication.failover", call, |d: &D, cx| d.fail_over(cx, &target, &volumes))
    }
    fn complete(call: Call, target: String) -> Result<()> {
        run("volume-replication.complete", call, |d: &D, cx| d.complete_failover(cx, &target))
    }
}

/// Interface `connection-info`. A connection is one for each volume and name: `initiator` for iSCSI, `nqn` for NVMe over fabrics,
/// each of `wwpns` for Fibre Channel, else `host`.
pub trait ConnectionInfo: Driver {
    /// `invalid` names what the connector lacks. Must not call the array.
    fn validate_connector(&self, cx: &Context, connector: &Connector) -> Result<()>;
    /// Makes the volume reachable by this connector's name only. Repeat, or another attachment by the same name: the same answer.
    /// Another `mode` is applied without cutting off who uses the connection; `unsupported`: it cannot be, and nothing was changed.
    fn connect(&self, cx: &Context, volume: &Volume, attachment_id: &str, mode: AccessMode, connector: &Connector) -> Result<Connection>;
    /// Repeat, or never connected: success. Connections by other names stay, also the same host's. A connector without the name
    /// that counts: all that its `host` has.
    fn disconnect(&self, cx: &Context, volume: &Volume, target: &DisconnectTarget) -> Result<()>;
    /// Exports again what a restart of the array lost, by the names, numbers and secrets that `connect` answered; what is there stays
    /// as it is. Asked for each connected volume when the back end has come into service, never beside a connect, a disconnect or
    /// a delete of it. To whom it was exported is not told: where the array forgets that, keep it in [`Context::kv`] from
    /// `connect` to `disconnect`. `unsupported`: no more volumes are asked for.
    fn ensure_export(&self, cx: &Context, volume: &Volume) -> Result<()>;
}

impl<D: ConnectionInfo> bindings::connection_info::Guest for Glue<D> {
    fn validate_connector(call: Call, connector: Connector) -> Result<()> {
        run("connection-info.validate-connector", call, |d: &D, cx| d.validate_connector(cx, &connector))
    }
    fn connect(call: Call, volume: Volume, attachment_id: String, mode: AccessMode, connector: Connector) -> Result<Connection> {
        run("connection-info.connect", call, |d: &D, cx| d.connect(cx, &volume, &attachment_id, mode, &connector))
    }
    fn disconnect(call: Call, volume: Volume, target: DisconnectTarget) -> Result<()> {
        run("connection-info.disconnect", call, |d: &D, cx| d.disconnect(cx, &volume, &target))
    }
    fn ensure_export(call: Call, volume: Volume) -> Result<()> {
        run("connection-info.ensure-export", call, |d: &D, cx| d.ensure_export(cx, &volume))
    }
}

/// Interface `poll`: for drivers that answer `pending`.
pub trait Poll: Driver {
    /// Asks the array once and returns.
    fn poll(&self, cx: &Context, token: &str) -> ServerResult<PollOutcome>;
}

impl<D: Poll> bindings::poll::Guest for Glue<D> {
    fn poll(call: Call, token: String) -> ServerResult<PollOutcome> {
        run("poll.poll", call, |d: &D, cx| d.poll(cx, &token))
    }
}
