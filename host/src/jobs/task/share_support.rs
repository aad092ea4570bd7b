//! What the share tasks have in common: the driver's picture of a share, messages.

use std::collections::HashMap;

use super::share_server_support::driver_server_of;
use crate::{
    driver::types::{self, ExportLocation, ShareProtocol},
    jobs::{JobContext, TaskError},
    notify::share_message::{NewShareMessage, ShareAction, ShareDetail, ShareResource},
    quota::QuotaError,
    store::{
        StoreError, StoreResult, Tx,
        sql::{
            metadata::{MetadataOf, Pairs},
            share_locations::LocationRow,
            shares::ShareRow,
            types::TypeOf,
        },
    },
};

/// Shares of one query.
const AT_ONCE: usize = 500;

/// The share as its driver is told of it.
pub async fn driver_share(cx: &JobContext, share: &ShareRow) -> StoreResult<types::Share> {
    let told = driver_shares(cx, std::slice::from_ref(share)).await?.pop();
    // one for each: there is always one
    told.ok_or_else(|| StoreError::Corrupt("a share was not read".to_owned()))
}

/// Shares as their driver is told of them, in this order: the one place where that is put together. A driver knows a share by
/// its instance's id. What belongs to the shares is read some hundreds at a time, not share by share.
pub async fn driver_shares(cx: &JobContext, shares: &[ShareRow]) -> StoreResult<Vec<types::Share>> {
    let store = &cx.app.store;
    let (mut types, mut servers) = (HashMap::new(), HashMap::new());
    let mut told = Vec::with_capacity(shares.len());
    for some in shares.chunks(AT_ONCE) {
        let mut metadata = store.metadata_of_all(MetadataOf::Share, some.iter().map(|s| s.id.as_str())).await?;
        let mut locations = locations(cx, some).await?;
        for share in some {
            if !types.contains_key(&share.share_type_id) {
                let found = store.resource_type(TypeOf::Share, &share.share_type_id).await?;
                let specs: types::StringMap = found.map(|t| t.specs.into_iter().collect()).unwrap_or_default();
                types.insert(share.share_type_id.clone(), specs);
            }
            if !servers.contains_key(&share.share_server_id) {
                servers.insert(share.share_server_id.clone(), driver_server_of(cx, share.share_server_id.as_deref()).await?);
            }
            told.push(types::Share {
                id: share.instance_id.clone(),
                name: share.name.clone().unwrap_or_default(),
                project_id: share.project_id.clone(),
                pool: share.pool().to_owned(),
                protocol: protocol(&share.share_proto),
                size_gib: u64::try_from(share.size_gib).unwrap_or(0),
                provider_id: share.provider_id.clone(),
                provider_data: share.provider_data.clone(),
                locations: locations.remove(&share.instance_id).unwrap_or_default(),
                server: servers.get(&share.share_server_id).cloned().flatten(),
                specs: types.get(&share.share_type_id).cloned().unwrap_or_default(),
                metadata: metadata.remove(&share.id).unwrap_or_default().into_iter().collect(),
            });
        }
    }
    Ok(told)
}

/// By instance.
async fn locations(cx: &JobContext, shares: &[ShareRow]) -> StoreResult<HashMap<String, Vec<ExportLocation>>> {
    let store = &cx.app.store;
    let rows = store.share_locations_of_all(shares.iter().map(|s| s.instance_id.as_str())).await?;
    let ids: Vec<&str> = rows.values().flatten().map(|l| l.id.as_str()).collect();
    let mut pairs: HashMap<String, Pairs> = HashMap::new();
    // an instance may have many
    for some in ids.chunks(AT_ONCE) {
        pairs.extend(store.metadata_of_all(MetadataOf::ExportLocation, some.iter().copied()).await?);
    }
    let mut told = |l: LocationRow| ExportLocation {
        metadata: pairs.remove(&l.id).unwrap_or_default().into_iter().collect(),
        path: l.path,
        admin_only: l.admin_only,
        preferred: l.preferred,
    };
    Ok(rows.into_iter().map(|(instance, rows)| (instance, rows.into_iter().map(&mut told).collect())).collect())
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
