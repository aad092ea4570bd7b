//! The driver's create of a volume: empty, from a snapshot, or as a copy of another volume.
//!
//! The source cannot go meanwhile: as long as a `volume.create` of its copy is unfinished, its delete is refused.

use super::{block_support as support, snapshot_support::driver_snapshot};
use crate::{
    driver::{
        Backend, DriverError, DriverResult, ErrorKind,
        types::{self, Answer, VolumeUpdate},
    },
    jobs::{JobContext, TaskError},
    store::sql::volumes::VolumeRow,
};

/// Where the copy has to be made: on the pool of its source. The outer none: anywhere.
pub async fn pool_of_source(cx: &JobContext, volume: &VolumeRow) -> Result<Option<String>, TaskError> {
    let host = if let Some(id) = &volume.snapshot_id {
        cx.app.store.snapshot(id).await?.and_then(|s| s.host)
    } else if let Some(id) = &volume.source_volid {
        cx.app.store.volume(id).await?.and_then(|v| v.host)
    } else {
        return Ok(None);
    };
    // a source that is gone lies in no pool
    Ok(Some(host.unwrap_or_default()))
}

/// Asks the driver for the volume.
pub async fn make(
    cx: &JobContext,
    backend: &Backend,
    volume: &VolumeRow,
    told: &types::Volume,
) -> Result<DriverResult<Answer<VolumeUpdate>>, TaskError> {
    let call = support::call(cx, "create");
    let gone = || Ok(Err(DriverError::new(ErrorKind::Invalid, "what it is to be copied from is gone")));
    if let Some(id) = &volume.snapshot_id {
        let Some(snapshot) = cx.app.store.snapshot(id).await? else { return gone() };
        let snapshot = driver_snapshot(cx, &snapshot).await?;
        return Ok(match backend.need_volume_from_snapshot() {
            Ok(driver) => driver.create_from_snapshot(&call, told, &snapshot).await,
            Err(e) => Err(e),
        });
    }
    if let Some(id) = &volume.source_volid {
        let Some(source) = cx.app.store.volume(id).await? else { return gone() };
        let source = support::driver_volume(cx, &source).await?;
        return Ok(match backend.need_volume_clone() {
            Ok(driver) => driver.clone_volume(&call, told, &source).await,
            Err(e) => Err(e),
        });
    }
    Ok(match backend.need_volumes() {
        Ok(driver) => driver.create(&call, told).await,
        Err(e) => Err(e),
    })
}
