//! Room on a volume's own pool, for what grows or is snapshotted there, in the transaction that accepts it.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    app::App,
    clock,
    error::{Error, Kind, Result},
    scheduler::{self, BackendKind, Limit, NoValidBackend, Operation, Options, PlacementRequest},
    store::Tx,
    store::sql::types::TypeOf,
};

/// How long after the start of this process a missing report is a reason to try again rather than a refusal.
const FIRST_REPORTS: Duration = Duration::from_secs(60);

/// The extra specs of a type.
pub async fn specs(app: &App, type_id: &str) -> Result<BTreeMap<String, String>> {
    Ok(app.store.resource_type(TypeOf::Volume, type_id).await?.map(|t| t.specs.into_iter().collect()).unwrap_or_default())
}

/// The QoS specs of a type.
pub async fn qos(app: &App, type_id: &str) -> Result<BTreeMap<String, String>> {
    Ok(app.store.qos_specs_of_type(type_id).await?.map(|q| q.specs).unwrap_or_default())
}

/// Takes the room. None: it was taken; else why not, for the user. The explanation is kept if the caller commits.
///
/// # Errors
/// 503 right after a start, when the back end has not reported yet.
pub async fn take(app: &App, tx: &mut Tx, mut request: PlacementRequest) -> Result<Option<String>> {
    request.service = BackendKind::Block;
    request.options = options(app);
    match scheduler::place(tx, &request).await? {
        Ok(_) => Ok(None),
        Err(none) if none.worth_waiting() && clock::now() - app.started_at < clock::micros(FIRST_REPORTS) => {
            Err(Error::new(Kind::Unavailable, "The storage back end has not reported yet after a start; try again in a moment."))
        }
        Err(none) => Ok(Some(reason(&request, &none))),
    }
}

/// For the user: the kind of limit, no figures.
pub fn reason(request: &PlacementRequest, none: &NoValidBackend) -> String {
    if request.operation == Operation::Extend && request.attached && none.limit == Limit::Capabilities {
        return "The volume is attached, and its storage back end cannot grow attached volumes.".to_owned();
    }
    match none.limit {
        Limit::Capacity => "The storage pool of the volume has not enough free capacity.".to_owned(),
        Limit::Capabilities => "The storage pool of the volume has not the capabilities that the type asks.".to_owned(),
        Limit::Service | Limit::NoBackend => "The storage back end of the volume is down.".to_owned(),
        Limit::AvailabilityZone => "The storage back end of the volume is not in a zone that the type allows.".to_owned(),
        Limit::Function => "The storage pool of the volume keeps such volumes away by its filter function.".to_owned(),
        Limit::Attempted | Limit::Hints | Limit::SeveralSubnets => "The storage pool of the volume is not there any more.".to_owned(),
    }
}

/// What the operator set for placing.
pub fn options(app: &App) -> Options {
    Options::from(&app.config.get().scheduler)
}
