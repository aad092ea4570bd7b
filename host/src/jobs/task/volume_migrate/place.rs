//! Where the volume goes, and what its object is called there.

use std::{collections::BTreeMap, ops::ControlFlow, time::Duration};

use serde_json::json;
use uuid::Uuid;

use super::{
    super::{
        block_support as support,
        volume_create::{capitalised, just_started},
    },
    Object, Plan, Stage, Target, Why, give_up,
};
use crate::{
    clock,
    domain::volume_type,
    driver::types,
    jobs::{JobContext, Outcome, TaskError},
    notify::message::Detail,
    scheduler::{self, BackendKind, Operation, PlacementRequest},
    service::volume::room,
    store::sql::{qos_specs::QosSpecs, types::TypeOf, volumes::VolumeRow},
};

const FIRST_REPORTS_POLL: Duration = Duration::from_millis(500);

/// Chooses the pool, in one transaction with the room it takes and the plan that names it.
pub async fn place(cx: &JobContext, volume: &VolumeRow, plan: &mut Plan) -> Stage {
    if plan.target.is_some() {
        return Ok(ControlFlow::Continue(()));
    }
    // what is read from outside the transaction is read before it begins: SQLite's one writer is not kept waiting
    let specs = specs(cx, volume, plan).await?;
    let multiattach = match &plan.to_type {
        Some(_) => volume_type::is_multiattach(specs.iter().map(|(key, value)| (key.as_str(), value.as_str()))),
        None => volume.multiattach,
    };
    let source = support::driver_volume(cx, volume).await?;
    // all of them for the functions of pools, those of the back end for its driver
    let all_qos = support::qos_of_type(cx, plan.to_type.as_ref().unwrap_or(&volume.volume_type_id)).await?;
    let qos = match &plan.to_type {
        Some(_) => all_qos.clone().and_then(QosSpecs::at_the_back_end),
        None => Some(source.qos.clone()),
    };
    let all_qos = all_qos.map(|q| q.specs).unwrap_or_default();
    let id = Uuid::new_v4().to_string();
    let request = PlacementRequest { qos: all_qos, ..request(cx, volume, plan, &id, &specs, multiattach) };
    let mut tx = cx.app.store.begin().await?;
    if !tx.volume_migrates(&volume.id, &cx.job.id, "migrating", clock::now()).await? {
        tx.rollback().await?;
        return give_up::abandon(cx, plan).await.map(ControlFlow::Break);
    }
    match scheduler::place(&mut tx, &request).await? {
        Ok(placed) => {
            let object = types::Volume {
                id,
                pool: placed.pool,
                specs,
                qos: qos.unwrap_or_default(),
                multiattach,
                provider_id: None,
                provider_data: None,
                ..source.clone()
            };
            plan.source = Some(Object { backend: volume.backend().unwrap_or_default().to_owned(), volume: source, ..Object::default() });
            let object = Object { backend: placed.backend, volume: object, ..Object::default() };
            plan.target = Some(Target { host: placed.host, object, ..Target::default() });
            plan.failures = 0;
            cx.commit_noted(tx, &json!(plan), "making the new object").await?;
            Ok(ControlFlow::Continue(()))
        }
        Err(none) if none.worth_waiting() && just_started(cx) => {
            tx.rollback().await?;
            let reason = format!("{}; the first reports are awaited", none.limit.user_text());
            Ok(ControlFlow::Break(Outcome::Again { after: FIRST_REPORTS_POLL, payload: json!(plan), reason }))
        }
        Err(none) => {
            // where a driver has refused before, that is why
            let (detail, text) = match &plan.refused {
                Some(said) => (Detail::DriverFailedCreate, format!("{said} The volume is where it was.")),
                None => (Detail::NotEnoughSpace, format!("{}. The volume is where it was.", capitalised(none.limit.user_text()))),
            };
            let why = Why(detail, text);
            // with the explanation, which is a row of this transaction
            give_up::give_up_in(cx, tx, plan, Some(why)).await.map(ControlFlow::Break)
        }
    }
}

async fn specs(cx: &JobContext, volume: &VolumeRow, plan: &Plan) -> Result<BTreeMap<String, String>, TaskError> {
    let Some(id) = &plan.to_type else { return Ok(support::specs_of(cx, volume).await?) };
    let found = cx.app.store.resource_type(TypeOf::Volume, id).await?;
    Ok(found.ok_or_else(|| TaskError::Other("the new type is gone".to_owned()))?.specs.into_iter().collect())
}

fn request(
    cx: &JobContext,
    volume: &VolumeRow,
    plan: &Plan,
    id: &str,
    specs: &BTreeMap<String, String>,
    multiattach: bool,
) -> PlacementRequest {
    let mut extra_specs = specs.clone();
    if multiattach {
        extra_specs.insert(volume_type::MULTIATTACH.to_owned(), volume_type::IS_TRUE.to_owned());
    }
    let mut exclude_pools = plan.given_up.clone();
    if plan.to_type.is_none() {
        // a move is to another pool; a retype may stay and only needs another object
        exclude_pools.extend(volume.host.clone());
    }
    let (only_pool, only_backend) = match &plan.to_host {
        Some(host) if host.contains('#') => (Some(host.clone()), None),
        other => (None, other.clone()),
    };
    PlacementRequest {
        request_id: cx.job.request_id.clone(),
        service: BackendKind::Block,
        resource_kind: "volume",
        resource_id: id.to_owned(),
        explained_as: Some(volume.id.clone()),
        project_id: volume.project_id.clone(),
        size_gib: volume.size_gib,
        availability_zone: Some(volume.availability_zone.clone()),
        extra_specs,
        exclude_pools,
        only_pool,
        only_backend,
        operation: Operation::Create,
        options: room::options(&cx.app),
        ..PlacementRequest::default()
    }
}
