//! `volume.cleanup`: deletes, by our id, what a back end may hold of a volume that went elsewhere or came to nothing.
//!
//! It never touches a back end on which the volume lives now. It is tried for days, with growing pauses; nobody waits for
//! it, and its order key is its own, so a dead array does not hold up the volume.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::block_support as support;
use crate::{
    driver::{ErrorKind, types},
    error::Kind,
    jobs::{JobContext, JobFault, Outcome, Task, TaskError, backoff},
};

pub struct VolumeCleanup;

#[derive(Deserialize)]
struct What {
    backend: String,
    volume: types::Volume,
    #[serde(default)]
    failures: i64,
}

impl Task for VolumeCleanup {
    fn kind(&self) -> &'static str {
        "volume.cleanup"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let what: What =
                serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
            let lives_there = cx.app.store.volume(&what.volume.id).await?.is_some_and(|v| v.backend() == Some(what.backend.as_str()));
            if lives_there {
                return end(cx).await;
            }
            let answer = match support::volumes_of(cx, &what.backend) {
                Ok(driver) => driver.delete(&support::call(cx, "cleanup"), &what.volume).await,
                Err(e) => Err(e),
            };
            match answer {
                Ok(()) => end(cx).await,
                Err(e) if e.kind == ErrorKind::NotFound => end(cx).await,
                Err(e) if e.kind == ErrorKind::LeaseLost => Err(TaskError::Fenced),
                Err(e) => {
                    let failures = what.failures + 1;
                    let after = backoff(failures).max(Duration::from_secs(1));
                    let payload = json!({ "backend": what.backend, "volume": what.volume, "failures": failures });
                    Ok(Outcome::Again { after, payload, reason: e.to_string() })
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            tracing::error!(volume_id = %cx.job.resource_id, backend = cx.job.backend, "clean-up was given up: the back end may hold an object under this id");
            metrics::counter!("stowage_cleanups_given_up_total").increment(1);
            let fault = JobFault { kind: Kind::Internal, message: "clean-up was given up".to_owned() };
            cx.settle(cx.app.store.begin().await?, Err(fault)).await?;
            Ok(Outcome::Settled)
        })
    }
}

async fn end(cx: &JobContext) -> Result<Outcome, TaskError> {
    cx.settle(cx.app.store.begin().await?, Ok(json!(null))).await?;
    Ok(Outcome::Settled)
}
