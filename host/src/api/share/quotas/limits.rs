use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    quota::Usage,
    service::share_quota::show,
};

/// What the figures are called here: limit, used, and since when they are shown (groups later than among quotas).
const NAMES: [(&str, &str, &str, u16); 11] = [
    ("shares", "maxTotalShares", "totalSharesUsed", 0),
    ("snapshots", "maxTotalShareSnapshots", "totalShareSnapshotsUsed", 0),
    ("share_networks", "maxTotalShareNetworks", "totalShareNetworksUsed", 0),
    ("gigabytes", "maxTotalShareGigabytes", "totalShareGigabytesUsed", 0),
    ("snapshot_gigabytes", "maxTotalSnapshotGigabytes", "totalSnapshotGigabytesUsed", 0),
    ("share_replicas", "maxTotalShareReplicas", "totalShareReplicasUsed", 53),
    ("replica_gigabytes", "maxTotalReplicaGigabytes", "totalReplicaGigabytesUsed", 53),
    ("share_groups", "maxTotalShareGroups", "totalShareGroupsUsed", 58),
    ("share_group_snapshots", "maxTotalShareGroupSnapshots", "totalShareGroupSnapshotsUsed", 58),
    ("backups", "maxTotalShareBackups", "totalShareBackupsUsed", 80),
    ("backup_gigabytes", "maxTotalBackupGigabytes", "totalBackupGigabytesUsed", 80),
];

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let figures = show::own(&req.app, &req.ctx).await?;
    Reply::json(StatusCode::OK, &json!({ "limits": { "rate": [], "absolute": absolute(req.ctx.microversion, &figures) } }))
}

fn absolute(minor: u16, figures: &[Usage]) -> Map<String, Value> {
    let mut shown = Map::new();
    for (name, limit, used, _) in NAMES.iter().filter(|(_, _, _, since)| *since <= minor) {
        if let Some(u) = figures.iter().find(|u| u.resource == *name) {
            shown.insert((*limit).to_owned(), json!(u.limit));
            shown.insert((*used).to_owned(), json!(u.used));
        }
    }
    shown
}
