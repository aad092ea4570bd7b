//! `volume.cleanup`, `share.cleanup`, `share_server.cleanup`: deletes, by our id, what a back end may hold of a thing that went elsewhere or came to
//! nothing.
//!
//! It never touches a back end on which the thing lives now. It is tried for days, with growing pauses; nobody waits for
//! it, and its order key is its own, so a dead array does not hold up the thing.

use std::{marker::PhantomData, time::Duration};

use futures::future::BoxFuture;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use super::{
    block_support::{call, volumes_of},
    share_server_support::take_down,
};
use crate::{
    domain::share_server::ServerStatus,
    driver::{DriverResult, ErrorKind, types},
    error::Kind,
    jobs::{JobContext, JobFault, NewJob, Outcome, Task, TaskError, backoff},
    store::{StoreResult, Tx},
};

/// How long a clean-up is tried.
const AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a back end may hold, as its driver was told of it.
pub trait Remains: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The job's kind.
    const KIND: &'static str;
    /// `volume`, `share`: the job's resource, and the payload's key.
    const NAME: &'static str;

    fn id(&self) -> &str;
    /// Whether it lives on `backend` now.
    fn lives_on<'a>(&'a self, cx: &'a JobContext, backend: &'a str) -> BoxFuture<'a, StoreResult<bool>>;
    fn delete<'a>(&'a self, cx: &'a JobContext, backend: &'a str) -> BoxFuture<'a, DriverResult<()>>;
}

impl Remains for types::Volume {
    const KIND: &'static str = "volume.cleanup";
    const NAME: &'static str = "volume";

    fn id(&self) -> &str {
        &self.id
    }

    fn lives_on<'a>(&'a self, cx: &'a JobContext, backend: &'a str) -> BoxFuture<'a, StoreResult<bool>> {
        Box::pin(async move {
            Ok(cx.app.store.volume(&self.id).await?.is_some_and(|v| v.backend() == Some(backend) && v.driver_id() == self.id))
        })
    }

    fn delete<'a>(&'a self, cx: &'a JobContext, backend: &'a str) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move { volumes_of(cx, backend)?.delete(&call(cx, "cleanup"), self).await })
    }
}

impl Remains for types::Share {
    const KIND: &'static str = "share.cleanup";
    const NAME: &'static str = "share";

    fn id(&self) -> &str {
        &self.id
    }

    fn lives_on<'a>(&'a self, cx: &'a JobContext, backend: &'a str) -> BoxFuture<'a, StoreResult<bool>> {
        Box::pin(async move { Ok(cx.app.store.share_of_instance(&self.id).await?.is_some_and(|s| s.backend() == Some(backend))) })
    }

    fn delete<'a>(&'a self, cx: &'a JobContext, backend: &'a str) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move { cx.app.drivers.backend(backend)?.need_shares()?.delete(&call(cx, "cleanup"), self).await })
    }
}

impl Remains for types::ShareServer {
    const KIND: &'static str = "share_server.cleanup";
    const NAME: &'static str = "share_server";

    fn id(&self) -> &str {
        &self.id
    }

    fn lives_on<'a>(&'a self, cx: &'a JobContext, backend: &'a str) -> BoxFuture<'a, StoreResult<bool>> {
        Box::pin(async move {
            let gone = [ServerStatus::Error, ServerStatus::Deleting];
            let found = cx.app.store.share_server(&self.id).await?;
            Ok(found.is_some_and(|s| s.row.backend == backend && gone.iter().all(|g| s.row.status != g.as_str())))
        })
    }

    fn delete<'a>(&'a self, cx: &'a JobContext, backend: &'a str) -> BoxFuture<'a, DriverResult<()>> {
        // whether set-up answered without any is not known any more
        let details = Some(&self.details).filter(|d| !d.is_empty());
        Box::pin(async move { take_down(cx, backend, &self.id, details, &call(cx, "cleanup")).await })
    }
}

/// Leaves a job behind that deletes whatever `backend` may hold under the id.
pub async fn leave<R: Remains>(tx: &mut Tx, cx: &JobContext, backend: &str, what: &R) -> StoreResult<()> {
    tx.enqueue(
        &cx.app.jobs,
        NewJob {
            kind: R::KIND,
            resource_kind: R::NAME,
            order_key: order_key(backend, what.id()),
            resource_id: what.id().to_owned(),
            backend: Some(backend.to_owned()),
            payload: json!({ "backend": backend, R::NAME: what }),
            max_age: AGE,
            request_id: cx.job.request_id.clone(),
            project_id: cx.job.project_id.clone(),
            user_id: cx.job.user_id.clone(),
        },
    )
    .await?;
    Ok(())
}

/// What was left behind for `backend` under this id is not needed any more: a later call of its driver deleted the same. An array
/// that has seen that call refuses the earlier job's.
pub async fn withdraw(tx: &mut Tx, backend: &str, id: &str) -> StoreResult<()> {
    tx.withdraw_jobs(&order_key(backend, id)).await?;
    Ok(())
}

fn order_key(backend: &str, id: &str) -> String {
    format!("cleanup:{id}:{backend}")
}

/// The task for one kind of thing.
pub struct Cleanup<R>(PhantomData<fn() -> R>);

impl<R> Cleanup<R> {
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<R: Remains> Task for Cleanup<R> {
    fn kind(&self) -> &'static str {
        R::KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let bad = |e: serde_json::Error| TaskError::Other(format!("the payload cannot be read: {e}"));
            let what: R = serde_json::from_value(cx.job.payload[R::NAME].clone()).map_err(bad)?;
            let backend: String = serde_json::from_value(cx.job.payload["backend"].clone()).map_err(bad)?;
            if what.lives_on(cx, &backend).await? {
                return end(cx).await;
            }
            match what.delete(cx, &backend).await {
                Ok(()) => end(cx).await,
                Err(e) if e.kind == ErrorKind::NotFound => end(cx).await,
                Err(e) if e.kind == ErrorKind::LeaseLost => Err(TaskError::Fenced),
                Err(e) => {
                    let failures = cx.job.payload["failures"].as_i64().unwrap_or(0) + 1;
                    let after = backoff(failures).max(Duration::from_secs(1));
                    let payload = json!({ "backend": backend, R::NAME: what, "failures": failures });
                    Ok(Outcome::Again { after, payload, reason: e.to_string() })
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            tracing::error!(kind = R::NAME, id = %cx.job.resource_id, backend = cx.job.backend, "clean-up was given up: the back end may hold an object under this id");
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
