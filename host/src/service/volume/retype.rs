//! `os-retype`: another type. Whether the volume's pool satisfies the new type is known at once; whether the driver can change
//! the volume without copying it, the job finds out. If either is not so and the policy is on-demand, the volume is copied to
//! a new object ([`migrate`](super::migrate)), and so must be at rest and without snapshots. The new type counts in the quota from the moment
//! the request is accepted, the old one until it has ended.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::json;

use super::hold::hold_found;
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        volume::{RETYPE_FROM, VolumeStatus},
        volume_type,
    },
    error::{Error, Result},
    jobs::task::MigratePlan,
    policy::Target,
    quota::QuotaDelta,
    scheduler::{self, BackendKind, NoValidBackend, Operation, PlacementRequest},
    service::{
        refusal,
        volume::{
            destroy::event,
            migrate::{begin, movable},
            room,
        },
        volume_type::usable,
    },
    store::{
        Tx,
        sql::{qos_specs::QosSpecs, types::TypeOf, volumes::VolumeRow},
    },
};

/// What may be done when the driver cannot change the volume where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migration {
    Never,
    OnDemand,
}

/// # Errors
/// 400 when state, type or pool do not allow it, 403, 404 (the type, too), 409 when the type changed meanwhile, 413 (quota).
pub async fn retype(app: &Arc<App>, ctx: &RequestContext, id: &str, new_type: &str, migration: Migration) -> Result<()> {
    let found = super::load_row_for(app, ctx, id, "volume:retype").await?;
    let to = usable(app, ctx, Some(new_type)).await?;
    let multiattach = volume_type::is_multiattach(to.specs());
    if multiattach && !found.multiattach {
        app.policy.check(ctx, "volume:multiattach", &Target::project(&found.project_id))?;
    }
    let qos = room::qos(app, &to.row.id).await?;
    let (old_qos, new_qos) = (front_end(app, &found.volume_type_id).await?, front_end(app, &to.row.id).await?);
    let (mut tx, volume) = hold_found(app, &found).await?;
    decide(&volume, &to.row.id, multiattach)?;
    if volume.status == VolumeStatus::InUse.as_str() && old_qos != new_qos {
        return Err(refusal::invalid_input("An attached volume cannot be retyped to a type with other QoS specs at the front-end."));
    }
    let request = PlacementRequest {
        size_gib: 0,
        only_pool: volume.host.clone(),
        operation: Operation::Snapshot,
        whole_gib: Some(volume.size_gib),
        options: room::options(app),
        ..PlacementRequest::of_volume(&volume, &ctx.request_id, to.specs.iter().cloned().collect(), qos)
    };
    let in_place = match pool_suits(&mut tx, &request).await? {
        Ok(()) => true,
        Err(none) if migration == Migration::Never => {
            let why = room::reason(&request, &none);
            return Err(refusal::invalid_volume(format!("Retype requires migration, but the migration policy is never. {why}")));
        }
        Err(_) => {
            movable(&mut tx, &volume).await?;
            false
        }
    };
    let held = Held { volume: &volume, snapshots: tx.snapshots_in_quota(id).await? };
    if held.snapshots.iter().any(|(project, ..)| *project != volume.project_id) {
        // they would count for the new type in the quota of a project that did not ask for it
        return Err(refusal::anothers_snapshots(id));
    }
    let Some(type_name) = tx.type_name_kept(TypeOf::Volume, &to.row.id).await? else { return Err(refusal::type_not_found(&to.row.id)) };
    if !tx.type_specs_are(TypeOf::Volume, &to.row.id, &to.specs).await? {
        return Err(refusal::type_changed(&type_name));
    }
    tx.quota_change(&held.quota(&type_name, 1)).await.map_err(refusal::over_quota)?;
    if !tx.volume_begin_retype(id, RETYPE_FROM, &to.row.id, clock::now()).await? {
        return Err(wrong_state(&volume));
    }
    if in_place {
        let ask = json!({ "to": to.row.id, "on_demand": migration == Migration::OnDemand });
        let job = super::create::job(app, ctx, id, volume.backend(), "volume.retype", ask);
        tx.enqueue(&app.jobs, job).await?;
    } else {
        let plan = MigratePlan::retype(&to.row.id);
        if !begin(app, ctx, &mut tx, &volume, &[VolumeStatus::Retyping], &plan, false).await? {
            return Err(wrong_state(&volume));
        }
    }
    event(&mut tx, "volume.retype.start", &volume, &ctx.request_id).await?;
    Ok(tx.commit().await?)
}

/// The QoS specs of a type that whoever attaches keeps to.
async fn front_end(app: &App, type_id: &str) -> Result<Option<BTreeMap<String, String>>> {
    let found = app.store.qos_specs_of_type(type_id).await?;
    Ok(found.and_then(QosSpecs::at_the_front_end))
}

fn decide(volume: &VolumeRow, to: &str, multiattach: bool) -> Result<()> {
    if VolumeStatus::parse(&volume.status).is_none_or(|s| !RETYPE_FROM.contains(&s)) || volume.host.is_none() || volume.volume_type_id == to
    {
        return Err(wrong_state(volume));
    }
    if volume.multiattach != multiattach && volume.status != VolumeStatus::Available.as_str() {
        return Err(refusal::invalid_input(format!(
            "Invalid volume_type passed: retypes affecting multiattach are only allowed on available volumes, the specified volume however \
             currently has a status of: {}.",
            volume.status
        )));
    }
    Ok(())
}

fn wrong_state(volume: &VolumeRow) -> Error {
    refusal::invalid_volume(format!(
        "Retype needs volume to be in available or in-use state, not be part of an active migration or a group, and requested type has to be \
         different than the one from the volume. Its status is {}.",
        volume.status
    ))
}

/// Whether the volume's own pool has what the new type asks.
async fn pool_suits(tx: &mut Tx, request: &PlacementRequest) -> Result<Result<(), NoValidBackend>> {
    let pools = tx.placement_pools(BackendKind::Block).await?;
    let cx = scheduler::filters::Context { request, same: &[], different: &[], now: clock::now() };
    let (left, rejections, limit) = scheduler::decide(pools, &cx);
    Ok(if left.is_empty() { Err(NoValidBackend { limit, rejections, awaits_reports: false }) } else { Ok(()) })
}

/// A volume and its snapshots, as a type's figures count them.
pub struct Held<'a> {
    pub volume: &'a VolumeRow,
    /// By whose they are: project, how many, GiB.
    pub snapshots: Vec<(String, i64, i64)>,
}

impl Held<'_> {
    /// What they count under the type of this name; `sign` is 1 or -1.
    pub fn quota(&self, type_name: &str, sign: i64) -> Vec<QuotaDelta> {
        let project = &self.volume.project_id;
        let mut figures = vec![
            QuotaDelta::project(project, format!("volumes_{type_name}"), sign),
            QuotaDelta::project(project, format!("gigabytes_{type_name}"), sign * self.volume.size_gib),
        ];
        for (project, count, gib) in &self.snapshots {
            figures.push(QuotaDelta::project(project, format!("snapshots_{type_name}"), sign * count));
            figures.push(QuotaDelta::project(project, format!("gigabytes_{type_name}"), sign * gib));
        }
        figures
    }
}
