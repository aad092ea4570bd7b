//! One function a row: from a request to a verb to a view.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{
    openapi,
    routes::{Ask, Reply},
    views,
};
use crate::node::{
    Node, Phase, blocking,
    name::Layout,
    refusal::{Refusal, Result},
    state::{Record, Snapshot, Volume},
    tgt::State,
};

fn ok(value: Value) -> Result<Reply> {
    Ok(Reply::Json(200, value))
}

async fn volume(node: &Node, volume: Arc<Volume>) -> Result<Reply> {
    ok(views::volumes(node, vec![volume]).await?.pop().unwrap_or_default())
}

async fn snapshot(node: &Node, snapshot: Arc<Snapshot>) -> Result<Reply> {
    ok(views::snapshots(node, vec![snapshot]).await?.pop().unwrap_or_default())
}

/// Splits off the entry that was asked for only to know whether there is more.
fn page<R: Record>(mut rows: Vec<Arc<R>>, limit: usize) -> (Vec<Arc<R>>, Option<String>) {
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|r| r.id().to_string());
    (rows, next)
}

pub async fn health(node: Arc<Node>, _: Ask) -> Result<Reply> {
    let phase = *node.phase.borrow();
    let service = node.daemon.state().borrow().clone();
    let (status, reason) = match (phase, service) {
        (Phase::Stopping, _) => ("stopping", "the node is ending"),
        (Phase::Serving, State::Up { .. }) => return ok(json!({"status": "ok"})),
        (Phase::Starting, _) => ("starting", "exports are being restored"),
        // why is for those with the token
        (Phase::Serving, State::Down(_)) => ("degraded", "the iSCSI service is down and is being started again"),
    };
    Ok(Reply::Json(503, json!({"status": status, "reason": reason})))
}

pub async fn openapi(_: Arc<Node>, _: Ask) -> Result<Reply> {
    ok(openapi::document())
}

pub async fn node(node: Arc<Node>, _: Ask) -> Result<Reply> {
    let down = match &*node.daemon.state().borrow() {
        State::Up { .. } => None,
        State::Down(why) => Some(why.clone()),
    };
    ok(json!({
        "id": node.records.node_id,
        "version": env!("CARGO_PKG_VERSION"),
        "api": "v1",
        "portals": node.portals,
        "iqn_prefix": node.exports.prefix,
        "layouts": [Layout::TargetPerVolume, Layout::TargetPerInitiator],
        "default_layout": node.default_layout,
        "iscsi_down_because": down,
        "features": {
            "multiattach": true, "online_extend": true, "read_only_attachments": true, "clone": true, "revert": true,
            "retype": true, "import": true, "discard": true, "thin": true, "reservations": false,
        },
    }))
}

pub async fn capacity(node: Arc<Node>, _: Ask) -> Result<Reply> {
    ok(json!(node.capacity().await?))
}

pub async fn list_volumes(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let limit = ask.limit()?;
    let (rows, next) = page(node.records.volumes.page(ask.optional_id("after")?.as_ref(), limit + 1, Volume::is_live), limit);
    ok(json!({"volumes": views::volumes(&node, rows).await?, "next": next}))
}

pub async fn create_volume(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let made = node.create_volume(&ask.call, ask.id()?, ask.json()?).await?;
    volume(&node, made).await
}

pub async fn show_volume(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    volume(&node, node.volume(&ask.id()?)?).await
}

pub async fn delete_volume(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    node.delete_volume(&ask.call, ask.id()?).await.map(|()| Reply::Empty)
}

pub async fn extend(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let extended = node.extend(&ask.call, ask.id()?, ask.json()?).await?;
    volume(&node, extended).await
}

pub async fn set_layout(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let retyped = node.set_layout(&ask.call, ask.id()?, ask.json()?).await?;
    volume(&node, retyped).await
}

pub async fn revert(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let reverted = node.revert(&ask.call, ask.id()?, ask.json()?).await?;
    volume(&node, reverted).await
}

pub async fn ensure(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let _: BTreeMap<(), ()> = ask.json()?;
    let ensured = node.ensure(&ask.call, ask.id()?).await?;
    volume(&node, ensured).await
}

pub async fn release(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let _: BTreeMap<(), ()> = ask.json()?;
    ok(json!({"import": node.release(&ask.call, ask.id()?).await?}))
}

pub async fn list_attachments(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let volume = node.volume(&ask.id()?)?;
    let all: Vec<Value> = volume.attachments.iter().map(|(i, a)| views::attachment(&node, &volume, i, a, false)).collect();
    ok(json!({"attachments": all}))
}

pub async fn detach_all(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    node.detach_all(&ask.call, ask.id()?).await.map(|()| Reply::Empty)
}

pub async fn attach(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let initiator = ask.initiator()?;
    let (volume, attachment) = node.attach(&ask.call, ask.id()?, initiator.clone(), ask.json()?).await?;
    ok(views::attachment(&node, &volume, &initiator, &attachment, true))
}

pub async fn show_attachment(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let (volume, initiator) = (node.volume(&ask.id()?)?, ask.initiator()?);
    match volume.attachments.get(&initiator) {
        Some(attachment) => ok(views::attachment(&node, &volume, &initiator, attachment, false)),
        None => Err(Refusal::not_found(format!("volume {} is not attached to {initiator}", volume.id))),
    }
}

pub async fn detach(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    node.detach(&ask.call, ask.id()?, ask.initiator()?).await.map(|()| Reply::Empty)
}

pub async fn list_snapshots(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let (limit, of) = (ask.limit()?, ask.optional_id("volume")?);
    let keep = |s: &Snapshot| s.is_live() && of.as_ref().is_none_or(|of| s.volume.as_ref() == Some(of));
    let (rows, next) = page(node.records.snapshots.page(ask.optional_id("after")?.as_ref(), limit + 1, keep), limit);
    ok(json!({"snapshots": views::snapshots(&node, rows).await?, "next": next}))
}

pub async fn create_snapshot(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let taken = node.create_snapshot(&ask.call, ask.id()?, ask.json()?).await?;
    snapshot(&node, taken).await
}

pub async fn show_snapshot(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    snapshot(&node, node.snapshot(&ask.id()?)?).await
}

pub async fn delete_snapshot(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    node.delete_snapshot(&ask.call, ask.id()?).await.map(|()| Reply::Empty)
}

pub async fn list_imports(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let (limit, after, disk) = (ask.limit()?, ask.query.get("after").cloned(), node.disk.clone());
    let mut files = blocking(move || disk.imports(after.as_deref(), limit + 1)).await?;
    let more = files.len() > limit;
    files.truncate(limit);
    let next = files.last().filter(|_| more).map(|f| f.name.clone());
    ok(json!({"files": files, "next": next}))
}

pub async fn show_import(node: Arc<Node>, ask: Ask) -> Result<Reply> {
    let (name, disk) = (ask.import()?, node.disk.clone());
    ok(json!(blocking(move || disk.import(&name)).await?))
}
