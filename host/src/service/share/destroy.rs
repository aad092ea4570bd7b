//! The end of a share's rows: they, their quota and their room go, the tombstone comes, in the caller's transaction.

use serde_json::json;

use crate::{
    domain::share::ShareStatus,
    notify::NewEvent,
    quota::{QuotaDelta, QuotaError, defaults::share_resource},
    service::page::to_tombstone,
    store::{
        StoreResult, Tx,
        sql::{share_list::ShareSort, shares::ShareRow, tombstones::Tombstone},
    },
};

/// Removes the share if it is in one of `from`. False: it is not, and nothing was written.
pub async fn remove(tx: &mut Tx, share: &ShareRow, from: &[ShareStatus], request_id: &str) -> Result<bool, QuotaError> {
    forget(tx, share, from, "share.delete.end", request_id).await
}

/// As [`remove`], under the name of what happened to it.
pub async fn forget(tx: &mut Tx, share: &ShareRow, from: &[ShareStatus], event_type: &str, request_id: &str) -> Result<bool, QuotaError> {
    if !tx.share_remove(&share.id, from).await? {
        return Ok(false);
    }
    tx.quota_change(&quota_of(share, -1)).await?;
    tx.forget_claim(&share.id).await?;
    tx.tombstone(&tombstone(share, request_id)).await?;
    event(tx, event_type, share, request_id).await?;
    Ok(true)
}

/// The figures a share counts in: of its project, of its user there, of its type there. `sign` is 1 or -1.
pub fn quota(project_id: &str, user_id: &str, type_id: &str, size_gib: i64, sign: i64) -> Vec<QuotaDelta> {
    let mut figures = gigabytes(project_id, user_id, type_id, sign * size_gib);
    figures.extend(of_each(project_id, user_id, type_id, "shares", sign));
    figures
}

/// As [`quota`], of a share as it is.
fn quota_of(share: &ShareRow, sign: i64) -> Vec<QuotaDelta> {
    quota(&share.project_id, &share.user_id, &share.share_type_id, share.size_gib, sign)
}

/// The figures that a growth counts in.
pub fn growth(share: &ShareRow, gib: i64) -> Vec<QuotaDelta> {
    gigabytes(&share.project_id, &share.user_id, &share.share_type_id, gib)
}

fn gigabytes(project_id: &str, user_id: &str, type_id: &str, gib: i64) -> Vec<QuotaDelta> {
    of_each(project_id, user_id, type_id, "gigabytes", gib)
}

/// A figure of each: of the project, of the user there, of the type there.
pub fn of_each(project_id: &str, user_id: &str, type_id: &str, name: &str, amount: i64) -> Vec<QuotaDelta> {
    [("", ""), (user_id, ""), ("", type_id)]
        .into_iter()
        .map(|(user, of_type)| QuotaDelta {
            project_id: project_id.to_owned(),
            user_id: user.to_owned(),
            type_id: of_type.to_owned(),
            resource: share_resource(name),
            amount,
        })
        .collect()
}

/// An event about a share, for the outbox.
pub async fn event(tx: &mut Tx, event_type: &str, share: &ShareRow, request_id: &str) -> StoreResult<()> {
    tx.publish(&NewEvent {
        event_type: event_type.to_owned(),
        resource_kind: "share",
        resource_id: share.id.clone(),
        project_id: share.project_id.clone(),
        user_id: share.user_id.clone(),
        request_id: request_id.to_owned(),
        payload: json!({
            "share_id": share.id,
            "share_instance_id": share.instance_id,
            "project_id": share.project_id,
            "user_id": share.user_id,
            "name": share.name,
            "description": share.description,
            "size": share.size_gib,
            "proto": share.share_proto,
            "status": share.status,
            "share_type_id": share.share_type_id,
            "share_type": share.type_name,
            "snapshot_id": share.snapshot_id,
            "availability_zone": share.availability_zone,
            "host": share.host,
            "is_public": share.is_public,
        }),
    })
    .await
}

/// As [`event`], about the share as this transaction has made it.
pub async fn event_now(tx: &mut Tx, event_type: &str, share_id: &str, request_id: &str) -> StoreResult<()> {
    match tx.share(share_id).await? {
        Some(share) => event(tx, event_type, &share, request_id).await,
        None => Ok(()),
    }
}

fn tombstone(share: &ShareRow, request_id: &str) -> Tombstone {
    Tombstone {
        kind: "share",
        id: share.id.clone(),
        project_id: share.project_id.clone(),
        sort_keys: to_tombstone::<ShareSort>(share),
        host: share.host.clone().unwrap_or_default(),
        provider_id: share.provider_id.clone().unwrap_or_default(),
        request_id: request_id.to_owned(),
    }
}
