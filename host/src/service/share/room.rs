//! Room for a share: what is asked of the scheduler, and what it means that there is none.
//!
//! Every placement of a share begins with [`request`], so that what only some shares need (a server in a network of several
//! subnets, the pool of a snapshot) has one place.

use std::time::Duration;

use crate::{
    app::App,
    clock,
    error::{Error, Kind, Result},
    notify::share_message::ShareDetail,
    scheduler::{self, BackendKind, Limit, NoValidBackend, Operation, PlacementRequest, ShareNeeds},
    service::volume::room::options,
    store::{
        StoreResult, Tx,
        sql::{shares::ShareRow, types::TypeOf},
    },
};

/// How long after the start of this process a missing report is a reason to try again rather than a refusal.
pub const FIRST_REPORTS: Duration = Duration::from_secs(60);

/// What a share asks of a pool. The caller adds what only its operation asks.
pub async fn request(app: &App, share: &ShareRow, operation: Operation, size_gib: i64, request_id: &str) -> StoreResult<PlacementRequest> {
    let share_type = app.store.resource_type(TypeOf::Share, &share.share_type_id).await?;
    Ok(PlacementRequest {
        request_id: request_id.to_owned(),
        service: BackendKind::Share,
        resource_kind: "share",
        resource_id: share.id.clone(),
        project_id: share.project_id.clone(),
        size_gib,
        extra_specs: share_type.map(|t| t.specs.into_iter().collect()).unwrap_or_default(),
        share: needs(app, share, operation).await?,
        operation,
        options: options(app),
        ..PlacementRequest::default()
    })
}

/// What only shares ask. One that is on a server already needs no subnet any more.
async fn needs(app: &App, share: &ShareRow, operation: Operation) -> StoreResult<ShareNeeds> {
    let network = match share.share_network_id.as_deref() {
        Some(id) if operation == Operation::Create => Some(super::network::reach(app, id).await?),
        _ => None,
    };
    Ok(ShareNeeds { protocol: Some(share.share_proto.clone()), network, from_snapshot: share.snapshot_id.is_some() })
}

/// Takes the room. None: it was taken; else why not, for the user. The explanation is kept if the caller commits.
///
/// # Errors
/// 503 right after a start, when the back end has not reported yet.
pub async fn take(app: &App, tx: &mut Tx, request: &PlacementRequest) -> Result<Option<ShareDetail>> {
    match scheduler::place(tx, request).await? {
        Ok(_) => Ok(None),
        Err(none) if none.worth_waiting() && just_started(app) => {
            Err(Error::new(Kind::Unavailable, "The storage back end has not reported yet after a start; try again in a moment."))
        }
        Err(none) => Ok(Some(detail(&none))),
    }
}

/// Whether the back ends' first reports may still be awaited.
pub fn just_started(app: &App) -> bool {
    clock::now() - app.started_at < clock::micros(FIRST_REPORTS)
}

/// For the user: the kind of limit, no figures.
pub fn detail(none: &NoValidBackend) -> ShareDetail {
    match none.limit {
        Limit::Capacity => ShareDetail::FilterCapacity,
        Limit::Capabilities => ShareDetail::FilterCapabilities,
        Limit::AvailabilityZone => ShareDetail::FilterAvailabilityZone,
        Limit::Attempted => ShareDetail::FilterIgnoreAttempted,
        Limit::Function => ShareDetail::FilterDriver,
        Limit::Service | Limit::NoBackend => ShareDetail::BackendsNotReady,
        Limit::Hints | Limit::SeveralSubnets => ShareDetail::NoValidHost,
    }
}
