//! Snapshots and copies: what a volume or a snapshot holds is a text, by default the id of the volume that it was first.

use std::sync::Arc;

use futures::future::BoxFuture;
use stowage::driver::{
    Call, DriverError, DriverResult, ErrorKind, Interfaces,
    block::{VolumeClone, VolumeFromSnapshot, VolumeRetype, VolumeRevert, VolumeSnapshots},
    types::{Answer, NewType, RetypeOutcome, SnapshotUpdate, Volume, VolumeSnapshot, VolumeUpdate},
};

use super::{Array, Face, Fault, State, made};

impl State {
    fn content(&self, volume: &str) -> String {
        self.contents.get(volume).cloned().unwrap_or_else(|| volume.to_owned())
    }
}

impl Array {
    /// The driver, as it is served next, does not export this interface.
    pub fn lacks(&self, interface: &'static str) {
        self.state().lacks.insert(interface);
    }
    pub fn snapshots(&self) -> Vec<String> {
        self.state().snapshots.keys().cloned().collect()
    }
    /// What a volume holds.
    pub fn content(&self, volume: &str) -> String {
        self.state().content(volume)
    }
    /// A client writes something.
    pub fn write(&self, volume: &str, content: &str) {
        self.state().contents.insert(volume.to_owned(), content.to_owned());
    }
    /// What a volume was extended to.
    pub fn size(&self, volume: &str) -> Option<u64> {
        self.state().sizes.get(volume).copied()
    }
    /// A spec that a volume was retyped to.
    pub fn spec(&self, volume: &str, key: &str) -> Option<String> {
        self.state().specs.get(volume)?.get(key).cloned()
    }

    pub(super) fn offer_copies(&self, interfaces: &mut Interfaces, face: Arc<Face>) {
        let lacks = self.state().lacks.clone();
        let has = |name: &str| !lacks.contains(name);
        interfaces.volume_snapshots = has("volume-snapshots").then(|| face.clone() as _);
        interfaces.volume_from_snapshot = has("volume-from-snapshot").then(|| face.clone() as _);
        interfaces.volume_clone = has("volume-clone").then(|| face.clone() as _);
        interfaces.volume_revert = has("volume-revert").then(|| face.clone() as _);
        interfaces.volume_retype = has("volume-retype").then_some(face as _);
    }

    /// What a volume holds, if it is there.
    fn held(&self, volume: &str) -> Option<String> {
        let state = self.state();
        state.volumes.contains_key(volume).then(|| state.content(volume))
    }

    fn put(&self, volume: &Volume, content: String) {
        let mut state = self.state();
        state.volumes.insert(volume.id.clone(), volume.pool.clone());
        state.contents.insert(volume.id.clone(), content);
        state.sizes.insert(volume.id.clone(), volume.size_gib);
    }

    async fn copy(&self, verb: &'static str, volume: &Volume, content: Option<String>) -> DriverResult<Answer<VolumeUpdate>> {
        let fault = self.begin(verb, &volume.id).await?;
        let content = content.ok_or_else(|| DriverError::new(ErrorKind::NotFound, "the source is gone"))?;
        self.put(volume, content);
        Self::end(fault, verb, Answer::Done(made(volume)))
    }
}

impl VolumeSnapshots for Face {
    fn create_snapshot<'a>(
        &'a self,
        _: &'a Call,
        snapshot: &'a VolumeSnapshot,
        volume: &'a Volume,
    ) -> BoxFuture<'a, DriverResult<SnapshotUpdate>> {
        Box::pin(async move {
            let fault = self.0.begin("snapshot", &snapshot.id).await?;
            let content = self.0.content(&volume.id);
            self.0.state().snapshots.entry(snapshot.id.clone()).or_insert((volume.id.clone(), content));
            Array::end(fault, "snapshot", SnapshotUpdate { provider_id: Some(format!("snap-{}", snapshot.id)), provider_data: None })
        })
    }
    fn delete_snapshot<'a>(&'a self, _: &'a Call, snapshot: &'a VolumeSnapshot, _: &'a Volume) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move {
            let fault = self.0.begin("delete-snapshot", &snapshot.id).await?;
            self.0.state().snapshots.remove(&snapshot.id);
            Array::end(fault, "delete-snapshot", ())
        })
    }
}

impl VolumeFromSnapshot for Face {
    fn create_from_snapshot<'a>(
        &'a self,
        _: &'a Call,
        volume: &'a Volume,
        snapshot: &'a VolumeSnapshot,
    ) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>> {
        Box::pin(async move {
            let content = self.0.state().snapshots.get(&snapshot.id).map(|(_, content)| content.clone());
            self.0.copy("from-snapshot", volume, content).await
        })
    }
}

impl VolumeClone for Face {
    fn clone_volume<'a>(
        &'a self,
        _: &'a Call,
        volume: &'a Volume,
        source: &'a Volume,
    ) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>> {
        Box::pin(async move {
            let content = self.0.held(&source.id);
            self.0.copy("clone", volume, content).await
        })
    }
}

impl VolumeRevert for Face {
    fn revert<'a>(&'a self, _: &'a Call, volume: &'a Volume, snapshot: &'a VolumeSnapshot) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move {
            let fault = self.0.begin("revert", &volume.id).await?;
            let content = self.0.state().snapshots.get(&snapshot.id).map(|(_, content)| content.clone());
            let content = content.ok_or_else(|| DriverError::new(ErrorKind::NotFound, "no such snapshot"))?;
            self.0.write(&volume.id, &content);
            Array::end(fault, "revert", ())
        })
    }
}

impl VolumeRetype for Face {
    fn retype<'a>(&'a self, call: &'a Call, volume: &'a Volume, to: &'a NewType) -> BoxFuture<'a, DriverResult<RetypeOutcome>> {
        Box::pin(async move {
            let fault = self.0.begin("retype", &volume.id).await?;
            if let Some(Fault::Pending(_)) = fault {
                return Ok(RetypeOutcome::NeedsMigration);
            }
            if let Some(Fault::Late(kind)) = fault {
                self.0.state().late.push((call.generation, volume.id.clone(), to.specs.clone()));
                return Err(DriverError::new(kind, "no answer yet"));
            }
            let mut state = self.0.state();
            state.specs.insert(volume.id.clone(), to.specs.clone());
            for (generation, id, specs) in std::mem::take(&mut state.late) {
                if generation >= call.generation {
                    state.specs.insert(id, specs);
                }
            }
            drop(state);
            Array::end(fault, "retype", RetypeOutcome::Done(VolumeUpdate::default()))
        })
    }
}
