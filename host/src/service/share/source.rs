//! What a share is made of when it is not empty: a snapshot, whose share decides type, protocol, zone and back end.

use crate::{
    app::App,
    context::RequestContext,
    domain::share_snapshot::ShareSnapshotStatus,
    error::{Error, Result},
    service::{share_refusal as refusal, share_snapshot, share_type},
    store::{
        Tx,
        sql::{
            share_snapshots::ShareSnapshotRow,
            shares::ShareRow,
            types::{Type, TypeOf},
        },
    },
};

/// From here on a share says whether others may be made of its snapshots; before, those that have snapshots may.
const CAPABILITY_SINCE: u16 = 24;

/// A snapshot and the share it was taken of.
#[derive(Debug)]
pub struct Source {
    pub snapshot: ShareSnapshotRow,
    pub share: ShareRow,
}

impl Source {
    /// # Errors
    /// 400 when no share can be made of it, 404.
    pub async fn load(app: &App, ctx: &RequestContext, snapshot_id: &str) -> Result<Self> {
        let snapshot = share_snapshot::load_row_for(app, ctx, snapshot_id, "share_snapshot:get_snapshot").await?;
        let Some(share) = app.store.share(&snapshot.share_id).await? else { return Err(refusal::snapshot_not_found(snapshot_id)) };
        let able = if ctx.microversion >= CAPABILITY_SINCE { share.create_share_from_snapshot_support } else { share.snapshot_support };
        if !able {
            return Err(Error::invalid(format!(
                "A new share may not be created from snapshot '{}', because the snapshot's parent share does not have that capability.",
                snapshot.id
            )));
        }
        check_whole(&snapshot)?;
        Ok(Self { snapshot, share })
    }

    /// The source holds at least so much, and is of this protocol.
    ///
    /// # Errors
    /// 400.
    pub fn check_fits(&self, protocol: &str, gib: i64) -> Result<()> {
        if gib < self.snapshot.size_gib {
            return Err(refusal::invalid_input(format!("Share size '{gib}' must be equal or greater than snapshot size")));
        }
        if protocol != self.snapshot.share_proto {
            return Err(refusal::invalid_input(format!(
                "Share protocol {protocol} is not that of the snapshot's share, {}.",
                self.snapshot.share_proto
            )));
        }
        Ok(())
    }

    /// The type of its share, which is the one to name if one is named.
    ///
    /// # Errors
    /// 400, 404.
    pub async fn share_type(&self, app: &App, ctx: &RequestContext, named: Option<&str>) -> Result<Type> {
        if let Some(named) = named
            && share_type::usable(app, ctx, named).await?.row.id != self.share.share_type_id
        {
            return Err(refusal::invalid_input(
                "Invalid share type specified: the requested share type must match the type of the source share. If a share type is not \
                 specified when requesting a new share from a snapshot, the share type of the source share will be applied to the new share.",
            ));
        }
        app.store.resource_type(TypeOf::Share, &self.share.share_type_id).await?.ok_or_else(refusal::type_not_found)
    }

    /// The zone asked is its own, or none is asked.
    ///
    /// # Errors
    /// 400.
    pub fn check_zone(&self, asked: Option<&str>) -> Result<()> {
        match (asked, self.share.availability_zone.as_deref()) {
            (Some(asked), Some(zone)) if asked != zone => Err(refusal::invalid_input(format!(
                "The specified availability zone must be the same as that of the snapshot's share, {zone}; {asked:.64} was asked."
            ))),
            _ => Ok(()),
        }
    }

    /// The share network of its share, which is the one to name if one is named.
    ///
    /// # Errors
    /// 400.
    pub fn network(&self, asked: Option<String>) -> Result<Option<String>> {
        match (&self.share.share_network_id, asked) {
            (Some(own), Some(asked)) if *own != asked => Err(refusal::invalid_input(
                "Share network ID should be the same as the snapshot's parent share's, or empty when a new share is made of a snapshot.",
            )),
            (Some(own), _) => Ok(Some(own.clone())),
            // that one does not fit is said with the type
            (None, asked) => Ok(asked),
        }
    }

    /// Holds the snapshot until the transaction ends, if it is still whole.
    ///
    /// # Errors
    /// 400, 404.
    pub async fn hold(&self, tx: &mut Tx) -> Result<()> {
        let id = &self.snapshot.id;
        check_whole(&tx.share_snapshot_locked(id).await?.ok_or_else(|| refusal::snapshot_not_found(id))?)
    }
}

fn check_whole(snapshot: &ShareSnapshotRow) -> Result<()> {
    if snapshot.status == ShareSnapshotStatus::Available.as_str() {
        return Ok(());
    }
    Err(refusal::invalid_snapshot(format!("Source snapshot status must be available; that of {} is {}.", snapshot.id, snapshot.status)))
}
