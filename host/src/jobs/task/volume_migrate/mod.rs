//! `volume.migrate`: a volume goes to another pool, or gets a new object on its own, by a copy of its bytes.
//!
//! Stages, each in a file of its own and each found done by a later run: (1) [`place`]: a pool, with its room, and an id for
//! the new object; (2) [`create`]: the driver makes it; (3) [`transfer`]: both are connected to this service, copied,
//! compared; (4) [`swap`]: in one transaction the volume is the new object, and a clean-up job has the old one. Drivers know
//! objects by ids of their own (`name_id`), so old and new never meet, even on one back end.
//!
//! Until the swap nothing of the volume has changed. Whatever fails before it, and however often, ends in [`give_up`]: one
//! transaction that gives the volume back as it was, with a message, and leaves what may stand on the back ends to clean-up
//! jobs. What a stage is about to make is written into the job's payload first, so nothing is made that no run knows of.
//!
//! A run that was taken over may still be copying elsewhere. So each run connects under a name of its own, and begins by ending
//! the connections of those before it: then they can neither read nor write.

mod create;
mod give_up;
mod leftover;
mod place;
mod swap;
mod transfer;

use std::{ops::ControlFlow, time::Duration};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    domain::volume::MIGRATION_ACTIVE,
    driver::types,
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::message::{Action, Detail},
    store::sql::volumes::VolumeRow,
};

pub use leftover::Leftover;

pub struct VolumeMigrate;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// The type it gets with the move.
    to_type: Option<String>,
    /// `host@backend#pool` or `host@backend` where it must go; none: where the scheduler says.
    to_host: Option<String>,
    /// Pools given up.
    given_up: Vec<String>,
    /// What the driver of the last of them said, for the user.
    refused: Option<String>,
    /// The volume as it is told of while it is still what it was.
    source: Option<Object>,
    target: Option<Target>,
    /// The target holds the volume's bytes.
    copied: bool,
    /// The target is connected to none of them any more.
    #[serde(skip)]
    let_go: bool,
    /// Failures in a row at this stage.
    failures: u32,
    /// Copies that failed.
    failed_copies: u32,
    /// How often there was no room for one more copy.
    waits: u32,
}

/// An object on a back end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Object {
    backend: String,
    volume: types::Volume,
    /// Runs that may have connected it to this service.
    runs: Vec<String>,
}

/// The object that the volume shall be.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Target {
    /// `host@backend#pool`.
    host: String,
    object: Object,
    /// The driver said that it is there.
    made: bool,
    /// The driver works on it; how to ask.
    token: Option<String>,
}

impl Object {
    /// What of it a clean-up has to take away.
    fn leftover(&self, cx: &JobContext, connections_only: bool) -> Leftover {
        Leftover { of: cx.job.resource_id.clone(), object: self.volume.clone(), runs: self.runs.clone(), connections_only }
    }
}

/// What a stage comes to: the next one, or the end of this run.
type Stage = Result<ControlFlow<Outcome>, TaskError>;

/// Why a move is given up, for the user.
struct Why(Detail, String);

impl Plan {
    /// It gets this type with the move, wherever that suits.
    pub fn retype(type_id: &str) -> Self {
        Self { to_type: Some(type_id.to_owned()), ..Self::default() }
    }
    /// It goes to this pool, or to any of this back end.
    pub fn to(host: &str) -> Self {
        Self { to_host: Some(host.to_owned()), ..Self::default() }
    }

    fn of(cx: &JobContext) -> Result<Self, TaskError> {
        serde_json::from_value(cx.payload()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))
    }
    /// This run ends, and another one goes on with the plan.
    fn again(&self, after: Duration, reason: impl Into<String>) -> ControlFlow<Outcome> {
        ControlFlow::Break(Outcome::Again { after, payload: json!(self), reason: reason.into() })
    }
    /// What the user asked for.
    fn action(&self) -> Action {
        if self.to_type.is_some() { Action::RetypeVolume } else { Action::MigrateVolume }
    }
    /// The events of its ends: well, and not. The first of a retype is the name that upstream tells it under.
    fn ends(&self) -> (&'static [&'static str], &'static str) {
        match self.to_type {
            Some(_) => (&["volume.retype", "volume.retype.end"], "volume.retype.error"),
            None => (&["volume.migrate.end"], "volume.migrate.error"),
        }
    }
}

impl Task for VolumeMigrate {
    fn kind(&self) -> &'static str {
        "volume.migrate"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut plan = Plan::of(cx)?;
            let Some(volume) = mine(cx).await? else { return give_up::abandon(cx, &plan).await };
            if let ControlFlow::Break(end) = place::place(cx, &volume, &mut plan).await? {
                return Ok(end);
            }
            if let ControlFlow::Break(end) = create::create(cx, &volume, &mut plan).await? {
                return Ok(end);
            }
            if let ControlFlow::Break(end) = transfer::transfer(cx, &mut plan).await? {
                return Ok(end);
            }
            swap::swap(cx, &plan).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let why = Why(Detail::TookTooLong, "The volume is where it was.".to_owned());
            give_up::give_up(cx, &Plan::of(cx)?, why).await
        })
    }
}

/// The volume, while this job moves it.
async fn mine(cx: &JobContext) -> Result<Option<VolumeRow>, TaskError> {
    Ok(cx.app.store.volume(&cx.job.resource_id).await?.filter(|v| {
        v.migration_job.as_deref() == Some(cx.job.id.as_str())
            && v.migration_status.as_deref().is_some_and(|m| MIGRATION_ACTIVE.contains(&m))
    }))
}
