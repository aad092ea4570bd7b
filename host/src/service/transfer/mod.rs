//! Transfers: a project offers a volume, another takes it with the key.
//!
//! While it is offered the volume is `awaiting-transfer` and nothing else begins on it. One transaction takes it: owner,
//! snapshots and quota of both projects change together, or nothing does. The offer goes when it is taken, withdrawn, when an
//! operator gives the volume another status, and with the volume.

pub mod accept;
pub mod create;
pub mod delete;
mod key;
pub mod list;
pub mod show;

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::page::to_tombstone,
    store::{
        StoreResult, Tx,
        sql::{
            tombstones::Tombstone,
            transfers::{TransferRow, TransferSort},
        },
    },
};

/// The transfer, if the caller may know of it and do `action` with it: another project's is not found.
async fn load_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<TransferRow> {
    let found = app.store.transfer(id).await?.filter(|t| ctx.is_admin() || t.project_id == ctx.project_id());
    let transfer = found.ok_or_else(|| not_found(id))?;
    app.policy.check(ctx, action, &Target::project(&transfer.project_id))?;
    Ok(transfer)
}

fn not_found(id: &str) -> Error {
    let id: String = id.chars().take(255).collect();
    Error::not_found(format!("Transfer {id} could not be found."))
}

/// The row goes, the tombstone comes, in the caller's transaction.
pub async fn forget(tx: &mut Tx, transfer: &TransferRow, request_id: &str) -> StoreResult<bool> {
    if !tx.transfer_remove(&transfer.id).await? {
        return Ok(false);
    }
    tx.tombstone(&Tombstone {
        kind: "transfer",
        id: transfer.id.clone(),
        project_id: transfer.project_id.clone(),
        sort_keys: to_tombstone::<TransferSort>(transfer),
        request_id: request_id.to_owned(),
        ..Tombstone::default()
    })
    .await?;
    Ok(true)
}
