//! Offers a volume. The key stands in this answer and nowhere else.

use uuid::Uuid;

use super::key::NewKey;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        snapshot::SnapshotStatus,
        volume::{TRANSFER_FROM, VolumeStatus},
    },
    error::{Error, Result},
    service::{
        refusal,
        volume::{destroy::event_now, hold::hold},
    },
    store::{
        Tx,
        sql::{transfers::TransferRow, volumes::VolumeRow},
    },
};

/// What was asked for; the name is trimmed and bounded already.
#[derive(Debug, Clone, Default)]
pub struct CreateTransfer {
    pub volume_id: String,
    pub name: Option<String>,
    /// Its snapshots stay with the project that offers it.
    pub no_snapshots: bool,
}

/// The transfer and its key.
///
/// # Errors
/// 400 when the volume or a snapshot that goes with it is not available, 403, 404.
pub async fn create(app: &App, ctx: &RequestContext, ask: CreateTransfer) -> Result<(TransferRow, String)> {
    let (mut tx, volume) = hold(app, ctx, &ask.volume_id, "volume:create_transfer").await?;
    decide(&mut tx, &volume, ask.no_snapshots).await?;
    event_now(&mut tx, "volume.transfer.create.start", &volume.id, &ctx.request_id).await?;
    if !tx.volume_status(&volume.id, TRANSFER_FROM, VolumeStatus::AwaitingTransfer, clock::now()).await? {
        return Err(not_available(&volume));
    }
    let new = NewKey::random();
    let transfer = TransferRow {
        id: Uuid::new_v4().to_string(),
        volume_id: volume.id,
        project_id: volume.project_id,
        name: ask.name,
        salt: new.kept.salt,
        key_hash: new.kept.hash,
        no_snapshots: ask.no_snapshots,
        created_at: clock::now(),
    };
    tx.transfer_insert(&transfer).await?;
    event_now(&mut tx, "volume.transfer.create.end", &transfer.volume_id, &ctx.request_id).await?;
    tx.commit().await?;
    Ok((transfer, new.key))
}

fn not_available(volume: &VolumeRow) -> Error {
    refusal::invalid_volume(format!("status must be available to offer volume {}, but it is {}", volume.id, volume.status))
}

async fn decide(tx: &mut Tx, volume: &VolumeRow, no_snapshots: bool) -> Result<()> {
    if VolumeStatus::parse(&volume.status).is_none_or(|s| !TRANSFER_FROM.contains(&s)) {
        return Err(not_available(volume));
    }
    if volume.being_changed() || volume.is_moving() {
        return Err(refusal::invalid_volume(format!("volume {} is being changed or migrated", volume.id)));
    }
    if !tx.attachments_of(&volume.id).await?.is_empty() {
        return Err(refusal::invalid_volume(format!("volume {} is attached", volume.id)));
    }
    if no_snapshots {
        return Ok(());
    }
    let snapshots = tx.snapshots_of(&volume.id).await?;
    let own = snapshots.iter().filter(|s| s.project_id == volume.project_id);
    match own.into_iter().find(|s| s.status != SnapshotStatus::Available.as_str()) {
        Some(busy) => Err(refusal::invalid_snapshot(format!("snapshot: {} status must be available", busy.id))),
        None => Ok(()),
    }
}
