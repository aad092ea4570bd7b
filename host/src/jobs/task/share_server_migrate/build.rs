//! The destination: addresses of its own, and the driver's set-up over its subnets, as any share server is built.

use std::time::Duration;

use serde_json::json;

use super::{Ask, Failed, Pair, undo};
use crate::{
    clock,
    domain::share_server::TaskState,
    driver::{
        ErrorKind,
        types::{Answer, ServerDetails},
    },
    jobs::{
        JobContext, Outcome, TaskError,
        task::{
            share_server_create::{self, Failure},
            share_server_support as support,
            tried::unless_fenced,
        },
    },
};

pub async fn build(cx: &JobContext, pair: &Pair, mut ask: Ask) -> Result<Outcome, TaskError> {
    let failure = match share_server_create::build(cx, &pair.target, &mut ask.build).await? {
        Ok(Answer::Done(details)) => return built(cx, pair, ask, &details).await,
        Ok(Answer::Pending(pending)) => {
            ask.tried.failures = 0;
            ask.build.token = Some(pending.token);
            return Ok(ask.again(pending.retry_after, "the back end builds the destination"));
        }
        Err(failure) => failure,
    };
    match failure {
        Failure::Network(e) => {
            tracing::warn!(share_server_id = %pair.source.id, destination = %pair.target.id, error = %e, "the destination of a migration gets no addresses");
            undo::because(cx, pair, ask, Failed::of(e.to_string(), "")).await
        }
        Failure::Driver(e) => {
            unless_fenced(&e)?;
            tracing::warn!(share_server_id = %pair.source.id, destination = %pair.target.id, backend = pair.target.backend, error = %e, "the driver did not build the destination of a migration");
            if e.kind == ErrorKind::NotFound && ask.build.token.take().is_some() {
                // the array has forgotten the work's outcome: the verb itself finds it
                return Ok(ask.again(Duration::ZERO, e.to_string()));
            }
            if let Some(after) = ask.tried.again(&e) {
                return Ok(ask.again(after, e.to_string()));
            }
            if let Some(partial) = &e.partial {
                // what tears it down is told of it
                let mut tx = cx.app.store.begin().await?;
                tx.share_server_details(&pair.target.id, &support::details_text(partial)?, clock::now()).await?;
                cx.commit_step(tx).await?;
            }
            undo::because(cx, pair, ask, Failed::of(e.to_string(), e.user_text())).await
        }
    }
}

async fn built(cx: &JobContext, pair: &Pair, mut ask: Ask, details: &ServerDetails) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = cx.app.store.begin().await?;
    tx.share_server_details(&pair.target.id, &support::details_text(details)?, now).await?;
    if let Some(identifier) = support::identifier(details) {
        tx.share_server_known_as(&pair.target.id, identifier).await?;
    }
    tx.share_server_task(&pair.source.id, &[TaskState::Starting, TaskState::InProgress], TaskState::DriverStarting, now).await?;
    ask.build.token = None;
    ask.asked = true;
    ask.next_step();
    cx.commit_noted(tx, &json!(ask), "the destination is built").await?;
    Ok(ask.again(Duration::ZERO, "the destination is built"))
}
