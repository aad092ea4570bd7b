//! `POST /volumes`: the row, its quota and the job that makes it, in one transaction. 202 means that it will end available
//! or in error with a message.

use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;

use super::{
    destroy::{event, quota},
    source::{Original, Source},
};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::volume_type::{self, ZONES},
    error::{Error, Result},
    jobs::NewJob,
    policy::Target,
    service::{refusal, volume_type::usable},
    store::sql::metadata::MetadataOf,
    store::sql::{
        backends::{BackendKind, MultiattachSupport},
        types::{Type, TypeOf},
        volume_list::Volume,
        volumes::NewVolume,
    },
};

/// Most pairs of metadata on one volume.
pub const MAX_METADATA: usize = 128;

/// What was asked for; texts are trimmed and bounded already.
#[derive(Debug, Clone, Default)]
pub struct CreateVolume {
    /// None: its source's.
    pub size_gib: Option<i64>,
    pub source: Source,
    pub name: Option<String>,
    pub description: Option<String>,
    /// Name or id.
    pub volume_type: Option<String>,
    pub availability_zone: Option<String>,
    pub metadata: Vec<(String, String)>,
    /// `OS-SCH-HNT:scheduler_hints` as it came.
    pub hints: serde_json::Value,
}

/// # Errors
/// 400, 403, 404 (the type), 409 when type or source changed meanwhile, 413 (quota).
pub async fn create(app: &Arc<App>, ctx: &RequestContext, ask: CreateVolume) -> Result<Volume> {
    // validate
    check_metadata_count(ask.metadata.len())?;
    // authorise
    app.policy.check(ctx, "volume:create", &Target::own(ctx))?;
    let original = ask.source.original(app, ctx).await?;
    let size_gib = ask
        .size_gib
        .or(original.as_ref().map(|o| o.size_gib))
        .ok_or_else(|| refusal::invalid_input("Volume size 'None' must be an integer and greater than 0."))?;
    let volume_type = match (&ask.volume_type, &original) {
        (None, Some(original)) => original.volume_type.clone(),
        (named, _) => usable(app, ctx, named.as_deref()).await?,
    };
    let multiattach = volume_type::is_multiattach(volume_type.specs());
    if multiattach {
        app.policy.check(ctx, "volume:multiattach", &Target::own(ctx))?;
        check_multiattach_is_possible(app).await?;
    }
    // decide
    let availability_zone = match &original {
        Some(original) => {
            ask.source.check_size(size_gib, original)?;
            original.zone(ask.availability_zone.as_deref())?
        }
        None => zone(app, &volume_type, ask.availability_zone.as_deref()).await?,
    };
    check_size_limit(app, ctx, size_gib).await?;
    let volume = NewVolume {
        id: Uuid::new_v4().to_string(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
        name: ask.name.filter(|n| !n.is_empty()),
        description: ask.description,
        size_gib,
        volume_type_id: volume_type.row.id.clone(),
        availability_zone,
        multiattach,
        bootable: original.as_ref().is_some_and(|o| o.bootable),
        snapshot_id: ask.source.snapshot_id(),
        source_volid: ask.source.source_volid(),
        created_at: clock::now(),
    };
    // commit
    commit(app, ctx, &volume, &volume_type, (&ask.source, original.as_ref()), ask.metadata, &ask.hints).await
}

async fn commit(
    app: &Arc<App>,
    ctx: &RequestContext,
    volume: &NewVolume,
    volume_type: &Type,
    (source, original): (&Source, Option<&Original>),
    mut metadata: Vec<(String, String)>,
    hints: &serde_json::Value,
) -> Result<Volume> {
    let mut tx = app.store.begin().await?;
    source.hold(&mut tx, original).await?;
    // its name now, and until this transaction ends: a rename moves the figures to another name
    let Some(type_name) = tx.type_name_kept(TypeOf::Volume, &volume.volume_type_id).await? else {
        return Err(refusal::type_not_found_by_name(&volume_type.row.name));
    };
    if !tx.type_specs_are(TypeOf::Volume, &volume.volume_type_id, &volume_type.specs).await? {
        return Err(refusal::type_changed(&type_name));
    }
    tx.quota_change(&quota(&volume.project_id, &type_name, volume.size_gib, 1)).await.map_err(refusal::over_quota)?;
    tx.volume_insert(volume).await?;
    tx.metadata_put(MetadataOf::Volume, &volume.id, &metadata).await?;
    tx.enqueue(&app.jobs, job(app, ctx, &volume.id, None, "volume.create", json!({ "hints": hints }))).await?;
    let row = tx.volume(&volume.id).await?.ok_or_else(|| Error::internal("the volume just inserted is not there"))?;
    event(&mut tx, "volume.create.start", &row, &ctx.request_id).await?;
    tx.commit().await?;
    metadata.sort();
    Ok(Volume { row, metadata, attachments: Vec::new() })
}

/// A job about one volume, in the lane of its back end if it is on one; jobs of one volume run one at a time.
pub(super) fn job(
    app: &App,
    ctx: &RequestContext,
    volume_id: &str,
    backend: Option<&str>,
    kind: &'static str,
    payload: serde_json::Value,
) -> NewJob {
    NewJob {
        kind,
        resource_kind: "volume",
        order_key: volume_id.to_owned(),
        resource_id: volume_id.to_owned(),
        backend: backend.map(str::to_owned),
        payload,
        max_age: app.config.get().jobs.max_age,
        request_id: ctx.request_id.clone(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
    }
}

/// Refuses more pairs than a volume may have.
pub fn check_metadata_count(count: usize) -> Result<()> {
    if count > MAX_METADATA {
        return Err(Error::over_limit(
            "MetadataLimitExceeded",
            format!("Maximum number of metadata items ({MAX_METADATA}) exceeded: {count} were given."),
        ));
    }
    Ok(())
}

/// D3: when every enabled back end has reported and none can do it, the answer is known now. From stored reports only.
async fn check_multiattach_is_possible(app: &App) -> Result<()> {
    match app.store.reported_multiattach().await? {
        MultiattachSupport::Refused => Err(refusal::invalid_input(
            "No back end supports multi-attach volumes: use another volume type, or ask the operator for a back end that does.",
        )),
        MultiattachSupport::Reported | MultiattachSupport::NotKnown => Ok(()),
    }
}

async fn check_size_limit(app: &App, ctx: &RequestContext, size_gib: i64) -> Result<()> {
    let limit = app.store.quota_limit(ctx.project_id(), "per_volume_gigabytes").await?;
    if limit >= 0 && size_gib > limit {
        return Err(Error::over_limit(
            "VolumeSizeExceedsLimit",
            format!(
                "Requested volume size {size_gib}G is larger than maximum allowed limit {limit}G; it would exceed the limit for one volume."
            ),
        ));
    }
    Ok(())
}

/// The zone asked for, if there is one of that name and the type allows it; else the type's first; else the default.
async fn zone(app: &App, volume_type: &Type, asked: Option<&str>) -> Result<String> {
    let allowed = volume_type.spec(ZONES).map(volume_type::zones).unwrap_or_default();
    let Some(asked) = asked.filter(|z| !z.is_empty()) else {
        return Ok(allowed.into_iter().next().unwrap_or_else(|| app.config.get().block.default_availability_zone.clone()));
    };
    let known = super::super::zones(app, BackendKind::Block).await?;
    if !known.iter().any(|(zone, available)| *available && zone == asked) {
        return Err(refusal::invalid_input(format!("Availability zone '{asked}' is invalid.")));
    }
    if !allowed.is_empty() && !allowed.iter().any(|z| z == asked) {
        return Err(refusal::invalid_input(format!("Volume type is only supported in these availability zones: {}.", allowed.join(", "))));
    }
    Ok(asked.to_owned())
}
