//! What a new volume is copied from: a snapshot or another volume. The copy is made on the pool of its source.

use crate::{
    app::App,
    context::RequestContext,
    domain::{
        snapshot::SnapshotStatus,
        volume::{COPY_FROM, VolumeStatus, either},
    },
    error::{Error, Result},
    service::{refusal, snapshot, volume},
    store::{
        Tx,
        sql::types::{Type, TypeOf},
    },
};

/// What a new volume is made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Source {
    #[default]
    Nothing,
    Snapshot(String),
    Volume(String),
}

/// What the source says of its copy.
#[derive(Debug, Clone)]
pub struct Original {
    /// Whose it is: that decided whether the caller may copy it.
    pub project_id: String,
    pub size_gib: i64,
    pub volume_type: Type,
    pub availability_zone: String,
    pub bootable: bool,
}

impl Original {
    /// The copy's zone: its source's, and no other may be asked for.
    pub fn zone(&self, asked: Option<&str>) -> Result<String> {
        match asked.filter(|z| !z.is_empty() && *z != self.availability_zone) {
            Some(_) => Err(refusal::invalid_input("Volume must be in the same availability zone as the snapshot/source volume")),
            None => Ok(self.availability_zone.clone()),
        }
    }
}

impl Source {
    pub fn snapshot_id(&self) -> Option<String> {
        if let Self::Snapshot(id) = self { Some(id.clone()) } else { None }
    }
    pub fn source_volid(&self) -> Option<String> {
        if let Self::Volume(id) = self { Some(id.clone()) } else { None }
    }

    /// What the source says, if the caller may know of it.
    ///
    /// # Errors
    /// 404.
    pub async fn original(&self, app: &App, ctx: &RequestContext) -> Result<Option<Original>> {
        let (volume, project_id, size_gib) = match self {
            Self::Nothing => return Ok(None),
            Self::Snapshot(id) => {
                let row = snapshot::load(app, ctx, id).await?.row;
                let volume = app.store.volume(&row.volume_id).await?.ok_or_else(|| refusal::snapshot_not_found(id))?;
                (volume, row.project_id, row.size_gib)
            }
            Self::Volume(id) => {
                let volume = volume::load_row(app, ctx, id).await?;
                let (project_id, size_gib) = (volume.project_id.clone(), volume.size_gib);
                (volume, project_id, size_gib)
            }
        };
        let volume_type = app.store.resource_type(TypeOf::Volume, &volume.volume_type_id).await?;
        Ok(Some(Original {
            project_id,
            size_gib,
            volume_type: volume_type.ok_or_else(|| refusal::type_not_found(&volume.volume_type_id))?,
            availability_zone: volume.availability_zone,
            bootable: volume.bootable,
        }))
    }

    /// Refuses a size below the source's.
    pub fn check_size(&self, size_gib: i64, original: &Original) -> Result<()> {
        let (kind, least) = (if matches!(self, Self::Snapshot(_)) { "snapshot" } else { "volume" }, original.size_gib);
        if size_gib < least {
            return Err(refusal::invalid_input(format!(
                "Volume size {size_gib}GB cannot be smaller than the {kind} size {least}GB. They must be >= original {kind} size."
            )));
        }
        Ok(())
    }

    /// Holds the source until the transaction ends, so that it cannot go before the copy's row is there to keep it. It must
    /// still be the `original` that the copy was decided by.
    ///
    /// # Errors
    /// 400 when its state does not allow a copy, 404, 409 when it has another size or type by now.
    pub async fn hold(&self, tx: &mut Tx, original: Option<&Original>) -> Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::Snapshot(id) => {
                let row = tx.snapshot_locked(id).await?.filter(|row| is_theirs(original, &row.project_id));
                let Some(row) = row else { return Err(refusal::snapshot_not_found(id)) };
                if row.status != SnapshotStatus::Available.as_str() {
                    return Err(refusal::invalid_snapshot(format!(
                        "Originating snapshot status must be one of 'available' values; snapshot {id} is {}.",
                        row.status
                    )));
                }
                let type_id = tx.volume(&row.volume_id).await?.map(|v| v.volume_type_id);
                still(original, row.size_gib, type_id.as_deref())
            }
            Self::Volume(id) => {
                let row = tx.volume_locked(id).await?.filter(|row| is_theirs(original, &row.project_id));
                let Some(row) = row else { return Err(refusal::volume_not_found(id)) };
                if VolumeStatus::parse(&row.status).is_none_or(|s| !COPY_FROM.contains(&s))
                    || row.host.is_none()
                    || row.being_changed()
                    || row.is_moving()
                {
                    return Err(refusal::invalid_volume(format!(
                        "Originating volume status must be {}; volume {id} is {}.",
                        either(COPY_FROM),
                        row.status
                    )));
                }
                still(original, row.size_gib, Some(&row.volume_type_id))
            }
        }
    }
}

/// Whether the source is still whose it was when the caller was authorised.
fn is_theirs(original: Option<&Original>, project_id: &str) -> bool {
    original.is_none_or(|o| o.project_id == project_id)
}

/// Refuses when the source is no longer what was decided by.
fn still(original: Option<&Original>, size_gib: i64, type_id: Option<&str>) -> Result<()> {
    if original.is_none_or(|o| o.size_gib == size_gib && type_id == Some(o.volume_type.row.id.as_str())) {
        return Ok(());
    }
    Err(Error::conflict("The source was extended or retyped meanwhile: ask for its copy again."))
}
