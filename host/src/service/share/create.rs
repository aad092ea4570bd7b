//! `POST /shares`: the rows of share and instance, their quota and the job that makes it, in one transaction. The share then
//! ends available, or in error with a message.

use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;

use super::{
    affinity,
    destroy::{event, quota},
    limits, mount_point, network,
    source::Source,
};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        share::ShareStatus,
        share_type::{Attributes, ZONES, zones},
    },
    error::{Error, Result},
    policy::Target,
    quota::QuotaScope,
    service::{share_metadata::check_writable, share_refusal as refusal, share_type},
    store::sql::{
        backends::BackendKind,
        metadata::MetadataOf,
        share_list::Share,
        shares::NewShare,
        types::{Type, TypeOf},
    },
};

/// From here on the zone asked must be one of the type's.
const TYPE_ZONES_SINCE: u16 = 48;

/// What was asked for; texts are trimmed and bounded already.
#[derive(Debug, Clone, Default)]
pub struct CreateShare {
    pub share_proto: String,
    pub size_gib: Option<i64>,
    pub name: Option<String>,
    pub description: Option<String>,
    /// Name or id.
    pub share_type: Option<String>,
    pub share_network_id: Option<String>,
    pub snapshot_id: Option<String>,
    pub availability_zone: Option<String>,
    pub metadata: Vec<(String, String)>,
    pub is_public: bool,
    pub mount_point_name: Option<String>,
    pub hints: affinity::Hints,
}

/// # Errors
/// 400, 403, 404 (type, zone, network, snapshot), 409 when the type changed meanwhile, 413 (quota).
pub async fn create(app: &Arc<App>, ctx: &RequestContext, ask: CreateShare) -> Result<Share> {
    // authorise
    app.policy.check(ctx, "share:create", &Target::own(ctx))?;
    if ask.is_public {
        app.policy.check(ctx, "share:create_public_share", &Target::own(ctx))?;
    }
    // validate
    let protocol = protocol(app, &ask.share_proto)?;
    check_writable(app, ctx, "share:update_admin_only_metadata", ask.metadata.iter().map(|(k, _)| k.as_str()))?;
    let source = match &ask.snapshot_id {
        Some(snapshot) => Some(Source::load(app, ctx, snapshot).await?),
        None => None,
    };
    let size_gib = ask.size_gib.or(source.as_ref().map(|s| s.snapshot.size_gib));
    let size_gib = size_gib.ok_or_else(|| refusal::invalid_input("Share size 'None' must be an integer and greater than 0"))?;
    let share_network_id = match &source {
        Some(source) => source.network(ask.share_network_id)?,
        None => ask.share_network_id,
    };
    network::check_known(app, ctx, share_network_id.as_deref()).await?;
    let share_type = match &source {
        Some(source) => {
            source.check_fits(&protocol, size_gib)?;
            source.check_zone(ask.availability_zone.as_deref())?;
            source.share_type(app, ctx, ask.share_type.as_deref()).await?
        }
        None => share_type_of(app, ctx, ask.share_type.as_deref()).await?,
    };
    // decide
    let zone = zone(app, ctx, &share_type, ask.availability_zone.as_deref()).await?;
    network::check_fits(&share_type, share_network_id.as_deref())?;
    network::check_zone(app, share_network_id.as_deref(), zone.as_deref()).await?;
    limits::check_create(&share_type, size_gib)?;
    mount_point::check(&share_type, ask.mount_point_name.as_deref())?;
    let of = QuotaScope { project_id: ctx.project_id(), user_id: &ctx.principal.user_id, type_id: &share_type.row.id };
    limits::check_one_share(app, of, size_gib).await?;
    let hints = ask.hints.checked(app, ctx).await?;
    let share = NewShare {
        id: Uuid::new_v4().to_string(),
        instance_id: Uuid::new_v4().to_string(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
        name: ask.name,
        description: ask.description,
        size_gib,
        share_proto: protocol,
        share_type_id: share_type.row.id.clone(),
        share_network_id,
        snapshot_id: source.as_ref().map(|s| s.snapshot.id.clone()),
        is_public: ask.is_public,
        status: if source.is_some() { ShareStatus::CreatingFromSnapshot } else { ShareStatus::Creating },
        attributes: Attributes::of(|key| share_type.spec(key)),
        mount_point_name: ask.mount_point_name,
        availability_zone: zone,
        created_at: clock::now(),
    };
    // commit
    commit(app, ctx, &share, &share_type, source.as_ref(), &ask.metadata, hints).await
}

async fn commit(
    app: &Arc<App>,
    ctx: &RequestContext,
    share: &NewShare,
    share_type: &Type,
    source: Option<&Source>,
    metadata: &[(String, String)],
    mut hints: affinity::Checked,
) -> Result<Share> {
    let mut tx = app.store.begin().await?;
    // until this transaction ends: the type is neither deleted nor given other specs
    let Some(type_name) = tx.type_name_kept(TypeOf::Share, &share.share_type_id).await? else { return Err(refusal::type_not_found()) };
    if !tx.type_specs_are(TypeOf::Share, &share.share_type_id, &share_type.specs).await? {
        return Err(refusal::type_changed(&type_name));
    }
    network::keep(&mut tx, share.share_network_id.as_deref()).await?;
    hints.hold(&mut tx).await?;
    if let Some(source) = source {
        // from then on its delete sees that it is being copied
        source.hold(&mut tx).await?;
    }
    let figures = quota(&share.project_id, &share.user_id, &share.share_type_id, share.size_gib, 1);
    tx.quota_change(&figures).await.map_err(refusal::over_quota)?;
    tx.share_insert(share).await?;
    tx.metadata_put(MetadataOf::Share, &share.id, metadata).await?;
    hints.remember(&mut tx, &share.id).await?;
    let row = tx.share(&share.id).await?.ok_or_else(|| Error::internal("the share just inserted is not there"))?;
    // before, a type's zones were no request
    let any_zone = ctx.microversion < TYPE_ZONES_SINCE;
    let payload = json!({ "zone": share.availability_zone, "any_zone": any_zone, "hints": hints.hints });
    tx.enqueue(&app.jobs, super::job(app, ctx, &row, "share.create", payload)).await?;
    event(&mut tx, "share.create.start", &row, &ctx.request_id).await?;
    let metadata = tx.metadata(MetadataOf::Share, &share.id).await?;
    tx.commit().await?;
    Ok(Share { row, metadata, locations: Vec::new() })
}

/// The protocol as it is kept, if it is offered.
fn protocol(app: &App, asked: &str) -> Result<String> {
    let config = app.config.get();
    if config.share.offers(asked) {
        return Ok(asked.to_ascii_uppercase());
    }
    let offered = config.share.enabled_share_protocols.iter().map(|p| p.to_ascii_uppercase()).collect::<Vec<_>>().join(", ");
    Err(refusal::invalid_input(format!(
        "Invalid share protocol provided: {asked:.64}. It is either disabled or unsupported. Available protocols: {offered}"
    )))
}

/// The type named, or the default one.
pub(super) async fn share_type_of(app: &App, ctx: &RequestContext, named: Option<&str>) -> Result<Type> {
    match named {
        Some(named) => share_type::usable(app, ctx, named).await,
        None => share_type::default_type(app).await?.ok_or_else(|| {
            Error::invalid("No default share type has been made available. You must specify a share type for creating shares.")
        }),
    }
}

/// The zone asked for, if there is one of that name and the type allows it. None: any.
async fn zone(app: &App, ctx: &RequestContext, share_type: &Type, asked: Option<&str>) -> Result<Option<String>> {
    let Some(asked) = asked else { return Ok(None) };
    if !super::super::zones(app, BackendKind::Share).await?.iter().any(|(zone, _)| zone == asked) {
        return Err(Error::not_found(format!("Availability zone {asked:.64} could not be found.")));
    }
    let allowed = share_type.spec(ZONES).map(zones).unwrap_or_default();
    if ctx.microversion >= TYPE_ZONES_SINCE && !allowed.is_empty() && !allowed.iter().any(|z| z == asked) {
        return Err(refusal::invalid_input(format!(
            "Share type {} is not supported within the availability zone chosen {asked}.",
            share_type.row.name
        )));
    }
    Ok(Some(asked.to_owned()))
}
