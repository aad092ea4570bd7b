//! `share_server.network_update`: gives a live share server the subnets that it was promised, one after the other.
//!
//! The addresses are rows already and stay the same however often the driver is asked; the driver answers a repeat as it
//! answered first. A subnet that is done is written in one transaction with all that the driver said of shares, snapshots and
//! the server itself. A failure that repeats do not cure, or a job past its age, puts the server and the access rules of its
//! shares in error and keeps what the driver says is left; the addresses stay the server's, for a retry or for its deletion.
//! However a run ends, the network is active again when none of its servers is being changed any more. A status that somebody
//! else gave the server meanwhile stays; what the driver said by then is written all the same.

mod end;

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    server_situation::situation,
    share_server_support::in_status,
    tried::{Tried, unless_fenced},
};
use crate::{
    domain::share_server::ServerStatus,
    driver::{
        DriverError, DriverResult, ErrorKind, answer,
        types::{self, Answer, NetworkInfo, PollOutcome, ServerDetails, ServerSituation},
    },
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::ShareDetail,
    service::share_server::update_network::{KIND, Work},
    store::sql::share_servers::ShareServerRow,
};

pub struct NetworkUpdate;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Ask {
    network_id: String,
    work: Work,
    /// The array works on it; how to ask.
    #[serde(default)]
    token: Option<String>,
    /// What the driver said last that is left of a failed update.
    #[serde(default)]
    partial: Option<ServerDetails>,
    #[serde(default)]
    tried: Tried,
}

impl Ask {
    fn read(cx: &JobContext) -> Result<Self, TaskError> {
        let ask: Self =
            serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
        Ok(Self { tried: ask.tried.begin(cx.job.attempts), ..ask })
    }

    fn again(&self, after: Duration, reason: String) -> Outcome {
        Outcome::Again { after, payload: json!(self), reason }
    }

    /// The subnet at hand is done with.
    fn next_subnet(&mut self) {
        self.work.subnets.remove(0);
        self.token = None;
        self.partial = None;
        self.tried = self.tried.afresh();
    }
}

impl Task for NetworkUpdate {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = Ask::read(cx)?;
            let Some(server) = in_status(cx, ServerStatus::NetworkChange).await? else { return end::left_alone(cx, &ask).await };
            let Some(wanted) = ask.work.subnets.first() else { return end::whole(cx, &server, &ask).await };
            let (told, promised) = situation(cx, &server).await?;
            let Some(added) = promised.iter().find(|n| n.subnet.id == *wanted) else {
                // it has that one
                ask.next_subnet();
                return Ok(ask.again(Duration::ZERO, "the next subnet".to_owned()));
            };
            let e = match update(cx, &server, &told, added, &ask).await {
                Ok(Answer::Done(update)) => return end::done(cx, &server, &added.subnet.id, ask, update).await,
                Ok(Answer::Pending(pending)) => {
                    ask.tried.failures = 0;
                    ask.tried.uncertain = true;
                    ask.token = Some(pending.token);
                    return Ok(ask.again(pending.retry_after, "the back end works on it".to_owned()));
                }
                Err(e) => e,
            };
            unless_fenced(&e)?;
            tracing::warn!(share_server_id = %server.id, host = server.backend, subnet_id = %added.subnet.id, error = %e, "the driver did not give the share server the subnet");
            if e.partial.is_some() {
                ask.partial.clone_from(&e.partial);
            }
            if e.kind == ErrorKind::NotFound && ask.token.take().is_some() {
                // the array has forgotten the work's outcome: the verb itself finds it
                return Ok(ask.again(Duration::ZERO, e.to_string()));
            }
            if let Some(after) = ask.tried.again(&e) {
                return Ok(ask.again(after, e.to_string()));
            }
            end::failed(cx, &server, &ask, (ShareDetail::NetworkUpdateFailed, e.user_text()), &e.to_string()).await
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask = Ask::read(cx).unwrap_or_default();
            if let Some(found) = cx.app.store.share_server(&cx.job.resource_id).await? {
                // the row knows it also when the payload cannot be read
                ask.network_id = found.row.share_network_id;
            }
            let Some(server) = in_status(cx, ServerStatus::NetworkChange).await? else { return end::left_alone(cx, &ask).await };
            let why = "the back end did not finish in time";
            end::failed(cx, &server, &ask, (ShareDetail::TookTooLong, ""), why).await
        })
    }
}

/// The update itself, or the question after one that goes on in the array.
async fn update(
    cx: &JobContext,
    server: &ShareServerRow,
    told: &ServerSituation,
    added: &NetworkInfo,
    ask: &Ask,
) -> DriverResult<Answer<types::NetworkUpdate>> {
    let backend = cx.app.drivers.backend(&server.backend)?;
    let Some(token) = &ask.token else {
        return backend.need_allocations()?.update(&call(cx, &format!("update-{}", added.subnet.id)), told, added).await;
    };
    match backend.need_poll()?.poll(&call(cx, "poll"), token).await? {
        PollOutcome::Pending(pending) => Ok(Answer::Pending(pending)),
        PollOutcome::Network(update) => Ok(Answer::Done(answer::network_polled(told, update)?)),
        other => Err(DriverError::wrong_answer(format!("the work of a share server's network update ended as {other:?}"))),
    }
}
