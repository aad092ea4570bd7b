//! Records as callers see them. A password leaves the node in one place: the answer to an attach.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::node::{
    Node, blocking,
    disk::Of,
    export::Key,
    name::Initiator,
    refusal::Result,
    state::{Attachment, Snapshot, Volume},
};

/// Views of volumes, in their order.
pub async fn volumes(node: &Node, volumes: Vec<Arc<Volume>>) -> Result<Vec<Value>> {
    let disk = node.disk.clone();
    let view = move |v: &Arc<Volume>| {
        json!({
            "id": v.id, "size_gib": v.size_gib, "layout": v.layout, "source": v.asked.source,
            "allocated_bytes": disk.allocated_bytes(Of::Volume, &v.id),
            "attachments": v.attachments.keys().collect::<Vec<_>>(),
            "created_at": v.created_at,
        })
    };
    blocking(move || Ok(volumes.iter().map(view).collect())).await
}

/// Views of snapshots, in their order.
pub async fn snapshots(node: &Node, snapshots: Vec<Arc<Snapshot>>) -> Result<Vec<Value>> {
    let disk = node.disk.clone();
    let view = move |s: &Arc<Snapshot>| {
        json!({
            "id": s.id, "volume": s.volume, "size_gib": s.size_gib,
            "allocated_bytes": disk.allocated_bytes(Of::Snapshot, &s.id), "created_at": s.created_at,
        })
    };
    blocking(move || Ok(snapshots.iter().map(view).collect())).await
}

/// An attachment and its connection.
pub fn attachment(node: &Node, volume: &Volume, initiator: &Initiator, attachment: &Attachment, secret: bool) -> Value {
    let mut connection = json!({
        "protocol": "iscsi",
        "portals": node.portals,
        "iqn": Key::of(volume, initiator).name(&node.exports.prefix),
        "lun": attachment.lun,
        "discard": true,
    });
    if secret {
        connection["auth"] = json!({"method": "CHAP", "username": attachment.username, "password": attachment.password});
    }
    json!({
        "volume": volume.id, "initiator": initiator, "mode": attachment.mode, "host": attachment.host, "ip": attachment.ip,
        "connection": connection,
    })
}
