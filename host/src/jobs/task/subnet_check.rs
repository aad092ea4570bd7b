//! `share_server.subnet_check`: asks the driver of one server whether the server could be given one more subnet, and stores what
//! it says. Nothing else changes.
//!
//! A refusal is stored with its reason, for operators; the owner of the network gets a message without it, once a check. A
//! driver that fails although it was asked again, or does not answer in time, has not agreed either: that is stored as a
//! failure, and the next create asks again. A check that is gone meanwhile needs no answer.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    server_situation::situation,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    domain::share_network::SubnetVerdict,
    driver::{
        DriverResult, ErrorKind,
        types::{NetworkCheck, ServerSituation, Subnet},
    },
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{NewShareMessage, ShareAction, ShareDetail, ShareResource},
    service::share_network_subnet::CHECK_KIND,
    store::sql::{share_servers::ShareServerRow, subnet_checks::AnswerRow},
};

/// A swap of a back end takes no longer, mostly.
const SWAP: Duration = Duration::from_millis(500);

pub struct SubnetCheck;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ask {
    check_id: String,
    /// As drivers are told of it; it is not there yet.
    subnet: Subnet,
    #[serde(default)]
    tried: Tried,
}

/// What a driver says.
enum Said {
    /// It wants so many addresses for it.
    Possible(u32),
    Refused(String),
}

impl Task for SubnetCheck {
    fn kind(&self) -> &'static str {
        CHECK_KIND
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask: Ask =
                serde_json::from_value(cx.job.payload.clone()).map_err(|e| TaskError::Other(format!("the payload cannot be read: {e}")))?;
            ask.tried = ask.tried.begin(cx.job.attempts);
            let waited_for = cx.app.store.subnet_check_answers(&ask.check_id).await?;
            let Some(waited_for) = waited_for.into_iter().find(|a| a.share_server_id == cx.job.resource_id && a.verdict.is_none()) else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            if let Some(reason) = another_is_here(cx, &waited_for) {
                return Ok(Outcome::Again { after: SWAP, payload: json!(ask), reason });
            }
            let Some(server) = cx.app.store.share_server(&cx.job.resource_id).await? else {
                return answer(cx, &ask, None, SubnetVerdict::Failed, Some("the share server is gone"), None).await;
            };
            let server = server.row;
            let (told, _) = situation(cx, &server).await?;
            match ask_driver(cx, &server, &told, &ask.subnet).await {
                Ok(Said::Possible(addresses)) => {
                    answer(cx, &ask, Some(&server), SubnetVerdict::Possible, None, Some(i64::from(addresses))).await
                }
                Ok(Said::Refused(reason)) => {
                    tracing::warn!(share_server_id = %server.id, host = server.backend, reason, "the driver refuses another subnet for the share server");
                    answer(cx, &ask, Some(&server), SubnetVerdict::Refused, Some(&reason), None).await
                }
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(share_server_id = %server.id, host = server.backend, error = %e, "the driver does not say whether the share server could be given another subnet");
                    if let Some(after) = ask.tried.again(&e) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    let verdict = match e.kind {
                        ErrorKind::Unsupported | ErrorKind::Invalid => SubnetVerdict::Refused,
                        _ => SubnetVerdict::Failed,
                    };
                    answer(cx, &ask, Some(&server), verdict, Some(&e.to_string()), None).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            // one that nobody can read: the check is forgotten after its time
            let Ok(ask) = serde_json::from_value::<Ask>(cx.job.payload.clone()) else {
                return settled(cx, cx.app.store.begin().await?).await;
            };
            answer(cx, &ask, None, SubnetVerdict::Failed, Some("the driver did not answer in time"), None).await
        })
    }
}

/// Why this process cannot ask now: it runs another incarnation of the back end than the one whose answer counts. A swap is
/// under way, here or in the process that took the question; whoever asks once it is over begins another check.
fn another_is_here(cx: &JobContext, waited_for: &AnswerRow) -> Option<String> {
    let here = cx.app.drivers.backend(&waited_for.backend).ok()?.incarnation();
    (here != waited_for.incarnation).then(|| format!("incarnation {} was to be asked, {here} is here", waited_for.incarnation))
}

async fn ask_driver(cx: &JobContext, server: &ShareServerRow, told: &ServerSituation, subnet: &Subnet) -> DriverResult<Said> {
    let backend = cx.app.drivers.backend(&server.backend)?;
    let asked = backend.need_allocations()?.check_update(&call(cx, "check"), told, subnet).await?;
    Ok(match asked {
        NetworkCheck::Refused(reason) => Said::Refused(reason),
        NetworkCheck::Ok => {
            let wanted = backend.need_share_servers()?.allocations_wanted(&call(cx, "addresses")).await?;
            Said::Possible(wanted.per_subnet)
        }
    })
}

/// Most of a reason that is kept.
const MAX_REASON: usize = 4096;

async fn answer(
    cx: &JobContext,
    ask: &Ask,
    server: Option<&ShareServerRow>,
    verdict: SubnetVerdict,
    reason: Option<&str>,
    addresses: Option<i64>,
) -> Result<Outcome, TaskError> {
    // a database may not take what a driver writes
    let reason: Option<String> = reason.map(|r| r.chars().filter(|c| *c != '\0').take(MAX_REASON).collect());
    let mut tx = cx.app.store.begin().await?;
    // of two drivers that refuse at once one is the first
    tx.subnet_check_held(&ask.check_id).await?;
    let refusals = tx.subnet_check_refusals(&ask.check_id).await?;
    let counts = tx.subnet_check_answer(&ask.check_id, &cx.job.resource_id, verdict, reason.as_deref(), addresses).await?;
    if let Some(server) = server.filter(|_| counts && refusals == 0 && verdict == SubnetVerdict::Refused) {
        tx.add_share_message(&NewShareMessage {
            resource: ShareResource::ShareNetwork,
            resource_id: server.share_network_id.clone(),
            project_id: server.project_id.clone(),
            request_id: cx.job.request_id.clone(),
            action: ShareAction::AddSubnet,
            detail: ShareDetail::NetworkUpdateRefused,
            extra: String::new(),
        })
        .await?;
    }
    settled(cx, tx).await
}
