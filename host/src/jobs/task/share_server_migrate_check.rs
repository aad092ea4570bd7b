//! `share_server.migrate_check`: asks the driver of one back end whether a share server could move there; its answer is the job's
//! result. Nothing changes.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    share_server_migrate::told_source,
    tried::{Tried, unless_fenced},
};
use crate::{
    driver::{DriverResult, ErrorKind, types::MigrationCheck},
    error::Kind,
    jobs::{JobContext, JobFault, JobResult, Outcome, Task, TaskError},
    service::share_server::migration::{CHECK_KIND, Question},
    store::sql::share_servers::ShareServerRow,
};

pub struct ShareServerMigrateCheck;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ask {
    #[serde(flatten)]
    question: Question,
    #[serde(default)]
    tried: Tried,
}

impl Task for ShareServerMigrateCheck {
    fn kind(&self) -> &'static str {
        CHECK_KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask: Ask =
                serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
            ask.tried = ask.tried.begin(cx.job.attempts);
            let Some(server) = cx.app.store.share_server(&cx.job.resource_id).await? else {
                return end(cx, Err(JobFault { kind: Kind::NotFound, message: "The share server is gone.".to_owned() })).await;
            };
            let e = match ask_driver(cx, &server.row, &ask.question).await? {
                Ok(said) => return end(cx, Ok(json!(said))).await,
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(share_server_id = %cx.job.resource_id, host = ask.question.backend, error = %e, "the driver does not say whether the share server could move to it");
            if let Some(after) = ask.tried.again(&e) {
                return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
            }
            match e.kind {
                ErrorKind::Unsupported | ErrorKind::Invalid => end(cx, Ok(json!(MigrationCheck::Refused(e.message)))).await,
                _ => {
                    let message =
                        format!("The driver of {} does not say whether the share server can move there: {e}", ask.question.backend);
                    end(cx, Err(JobFault { kind: Kind::Unavailable, message })).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let message = "The driver of the destination has not said in time whether the share server can move there.".to_owned();
            end(cx, Err(JobFault { kind: Kind::Timeout, message })).await
        })
    }
}

async fn ask_driver(cx: &JobContext, server: &ShareServerRow, question: &Question) -> Result<DriverResult<MigrationCheck>, TaskError> {
    let source = told_source(cx, server).await?;
    let answer = async {
        let backend = cx.app.drivers.backend(&question.backend)?;
        backend.need_share_server_migration()?.check(&call(cx, "check"), &source, &question.subnets, &question.request).await
    };
    Ok(answer.await)
}

async fn end(cx: &JobContext, result: JobResult) -> Result<Outcome, TaskError> {
    cx.settle(cx.app.store.begin().await?, result).await?;
    Ok(Outcome::Settled)
}
