//! Making, changing and deleting QoS specs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use uuid::Uuid;

use super::{KIND, MAX_PAIRS, load, not_found};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::{page::to_tombstone, type_event},
    store::{
        StoreError,
        sql::{
            qos_specs::{Consumer, QosSort, QosSpecs, QosSpecsRow},
            tombstones::Tombstone,
        },
    },
};

/// # Errors
/// 400, 403, 409 for a taken name.
pub async fn create(
    app: &App,
    ctx: &RequestContext,
    name: String,
    consumer: Consumer,
    specs: BTreeMap<String, String>,
) -> Result<QosSpecs> {
    app.policy.check(ctx, "volume_extension:qos_specs_manage:create", &Target::own(ctx))?;
    check_count(specs.len())?;
    let row = QosSpecsRow {
        id: Uuid::new_v4().to_string(),
        name,
        consumer: consumer.as_str().to_owned(),
        created_at: clock::now(),
        updated_at: None,
    };
    let made = QosSpecs { row, specs };
    let mut tx = app.store.begin().await?;
    tx.qos_specs_insert(&made).await.map_err(|e| match e {
        StoreError::Duplicate { .. } => Error::conflict(format!("QoS Specs {} already exists.", made.row.name)),
        other => other.into(),
    })?;
    type_event::tell_qos(&mut tx, ctx, &made.row.id, "create", json!({ "name": made.row.name })).await?;
    tx.commit().await?;
    Ok(made)
}

/// Merges pairs.
///
/// # Errors
/// 400, 403, 404.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, consumer: Option<Consumer>, specs: &BTreeMap<String, String>) -> Result<()> {
    app.policy.check(ctx, "volume_extension:qos_specs_manage:update", &Target::own(ctx))?;
    let mut tx = super::hold(app, id).await?;
    check_count(tx.qos_keys(id).await?.iter().chain(specs.keys()).collect::<BTreeSet<_>>().len())?;
    if !tx.qos_specs_update(id, consumer, specs, clock::now()).await? {
        return Err(not_found(id));
    }
    type_event::tell_qos(&mut tx, ctx, id, "update", json!({ "specs": specs })).await?;
    Ok(tx.commit().await?)
}

/// # Errors
/// 400 for a key that is not there, 403, 404.
pub async fn delete_keys(app: &App, ctx: &RequestContext, id: &str, keys: &[String]) -> Result<()> {
    app.policy.check(ctx, "volume_extension:qos_specs_manage:delete", &Target::own(ctx))?;
    let mut tx = super::hold(app, id).await?;
    for key in keys {
        if !tx.qos_pair_remove(id, key).await? {
            return Err(Error::not_found(format!("QoS spec {id:.255} has no spec with key {key:.255}.")));
        }
    }
    type_event::tell_qos(&mut tx, ctx, id, "delete_keys", json!({ "keys": keys })).await?;
    Ok(tx.commit().await?)
}

/// With `force` also while types have them, which lose them.
///
/// # Errors
/// 400 while types have them, 403, 404.
pub async fn delete(app: &App, ctx: &RequestContext, id: &str, force: bool) -> Result<()> {
    app.policy.check(ctx, "volume_extension:qos_specs_manage:delete", &Target::own(ctx))?;
    let found = load(app, id).await?;
    let mut tx = super::hold(app, id).await?;
    if force {
        tx.qos_disassociate(id, None).await?;
    }
    if !tx.qos_specs_remove(id).await? {
        return Err(Error::invalid(format!("QoS Specs {id:.255} is still associated with entities.")));
    }
    tx.tombstone(&Tombstone {
        kind: KIND,
        id: id.to_owned(),
        sort_keys: to_tombstone::<QosSort>(&found.row),
        request_id: ctx.request_id.clone(),
        ..Tombstone::default()
    })
    .await?;
    type_event::tell_qos(&mut tx, ctx, id, "delete", json!({})).await?;
    Ok(tx.commit().await?)
}

fn check_count(count: usize) -> Result<()> {
    if count > MAX_PAIRS {
        return Err(Error::invalid(format!("QoS specs have at most {MAX_PAIRS} keys; {count} are too many.")));
    }
    Ok(())
}
