//! What the share tasks have in common: the driver's picture of a share, messages.

use super::share_server_support::driver_server_of;
use crate::{
    driver::types::{self, ExportLocation, ShareProtocol},
    jobs::{JobContext, TaskError},
    notify::share_message::{NewShareMessage, ShareAction, ShareDetail, ShareResource},
    quota::QuotaError,
    store::{
        StoreResult, Tx,
        sql::{metadata::MetadataOf, shares::ShareRow, types::TypeOf},
    },
};

/// The share as its driver is told of it: the one place where that is put together. A driver knows it by its instance's id.
pub async fn driver_share(cx: &JobContext, share: &ShareRow) -> StoreResult<types::Share> {
    let store = &cx.app.store;
    let metadata = store.metadata(MetadataOf::Share, &share.id).await?;
    let share_type = store.resource_type(TypeOf::Share, &share.share_type_id).await?;
    Ok(types::Share {
        id: share.instance_id.clone(),
        name: share.name.clone().unwrap_or_default(),
        project_id: share.project_id.clone(),
        pool: share.pool().to_owned(),
        protocol: protocol(&share.share_proto),
        size_gib: u64::try_from(share.size_gib).unwrap_or(0),
        provider_id: share.provider_id.clone(),
        provider_data: share.provider_data.clone(),
        locations: locations(cx, share).await?,
        server: driver_server_of(cx, share.share_server_id.as_deref()).await?,
        specs: share_type.map(|t| t.specs.into_iter().collect()).unwrap_or_default(),
        metadata: metadata.into_iter().collect(),
    })
}

async fn locations(cx: &JobContext, share: &ShareRow) -> StoreResult<Vec<ExportLocation>> {
    let rows = cx.app.store.share_locations(&share.instance_id).await?;
    let mut pairs = cx.app.store.share_location_metadata(&rows).await?;
    Ok(rows
        .into_iter()
        .map(|l| ExportLocation {
            metadata: pairs.remove(&l.id).unwrap_or_default().into_iter().collect(),
            path: l.path,
            admin_only: l.admin_only,
            preferred: l.preferred,
        })
        .collect())
}

fn protocol(word: &str) -> ShareProtocol {
    match word {
        "NFS" => ShareProtocol::Nfs,
        "CIFS" => ShareProtocol::Cifs,
        "CEPHFS" => ShareProtocol::Cephfs,
        "GLUSTERFS" => ShareProtocol::Glusterfs,
        "HDFS" => ShareProtocol::Hdfs,
        "MAPRFS" => ShareProtocol::Maprfs,
        other => ShareProtocol::Other(other.to_ascii_lowercase()),
    }
}

/// A message for the share's owner. Sentences, without internals.
pub async fn tell(
    tx: &mut Tx,
    cx: &JobContext,
    share: &ShareRow,
    action: ShareAction,
    detail: ShareDetail,
    extra: &str,
) -> StoreResult<()> {
    tx.add_share_message(&NewShareMessage {
        resource: ShareResource::Share,
        resource_id: share.id.clone(),
        project_id: share.project_id.clone(),
        request_id: cx.job.request_id.clone(),
        action,
        detail,
        extra: extra.to_owned(),
    })
    .await?;
    Ok(())
}

/// Figures that are given back cannot exceed anything.
pub fn given_back(e: QuotaError) -> TaskError {
    match e {
        QuotaError::Store(e) => TaskError::from(e),
        other @ QuotaError::Exceeded { .. } => TaskError::Other(other.to_string()),
    }
}
