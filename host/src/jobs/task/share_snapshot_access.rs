//! `share_snapshot.access`: tells the driver who may mount a snapshot, and writes what it made of each rule.
//!
//! As `share.access`: a run takes up every rule that waits, is the same call when it is repeated, and puts what was under
//! way in error when repeats do not cure a failure.

use std::collections::HashMap;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    share_snapshot_support::{driver_rule, driver_snapshot, tell},
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::{host::backend_of, share_access::AccessState, share_snapshot::ShareSnapshotStatus},
    driver::{
        DriverError, ErrorKind,
        types::{AccessChange, RuleState},
    },
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::share_snapshot::destroy::event_now,
    store::sql::{share_snapshots::ShareSnapshotRow, snapshot_access::SnapshotRuleRow},
};

pub struct ShareSnapshotAccess;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// The driver shall apply everything anew, though nothing waits: it may have lost the rules.
    anew: bool,
    /// What holds them now never heard of them: none holds unless it says so.
    moved: bool,
    tried: Tried,
}

impl Task for ShareSnapshotAccess {
    fn kind(&self) -> &'static str {
        "share_snapshot.access"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            let Some(snapshot) = mine(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut tx = cx.app.store.begin().await?;
            let rules = tx.snapshot_rules_begin(&snapshot.id, ask.anew, clock::now()).await?;
            let nothing_waits = !rules.iter().any(|r| r.state().is_some_and(AccessState::waits));
            if nothing_waits && !ask.anew {
                return settled(cx, tx).await;
            }
            let change = change(&rules, ask.anew);
            cx.commit_step(tx).await?;
            let told = driver_snapshot(cx, &snapshot).await?;
            let answer = async {
                let backend = cx.app.drivers.backend(backend_of(snapshot.host.as_deref().unwrap_or_default()))?;
                backend.need_snapshot_access()?.apply(&call(cx, "snapshot-access"), &told, &change).await
            };
            match answer.await {
                Ok(states) => done(cx, &snapshot, &rules, states, nothing_waits).await,
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(snapshot_id = %snapshot.id, host = snapshot.host, error = %e, "the driver did not apply the snapshot's rules");
                    // its delete waits: that is not held up
                    let going = snapshot.status == ShareSnapshotStatus::Deleting.as_str();
                    if let Some(after) = ask.tried.again(&e).filter(|_| !going) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    failed(cx, &snapshot, &rules, ask.moved, (ShareDetail::DriverFailedAccess, e.user_text())).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(snapshot) = mine(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut tx = cx.app.store.begin().await?;
            let rules = tx.snapshot_rules_begin(&snapshot.id, false, clock::now()).await?;
            cx.commit_step(tx).await?;
            failed(cx, &snapshot, &rules, cx.job.payload["moved"] == json!(true), (ShareDetail::TookTooLong, "")).await
        })
    }
}

/// The snapshot, if rules of it can be applied: it is somewhere. That it is going is no reason: its delete comes after this job, and
/// the snapshot stays when the back end refuses that.
async fn mine(cx: &JobContext) -> Result<Option<ShareSnapshotRow>, TaskError> {
    let snapshot = cx.app.store.share_snapshot(&cx.job.resource_id).await?;
    Ok(snapshot.filter(|s| s.backed && s.host.is_some()))
}

/// What the driver is told. A rule that failed is not among those that shall hold. With `anew` there is no difference: one
/// would be taken for all there is to do.
fn change(rules: &[SnapshotRuleRow], anew: bool) -> AccessChange {
    let of = |state: AccessState| rules.iter().filter(move |r| r.state() == Some(state)).filter_map(driver_rule).collect::<Vec<_>>();
    let added = of(AccessState::Applying);
    let mut all = of(AccessState::Active);
    all.extend(added.iter().cloned());
    if anew {
        return AccessChange { rules: all, ..AccessChange::default() };
    }
    AccessChange { rules: all, added, removed: of(AccessState::Denying), changed: Vec::new() }
}

/// Each rule as the driver says. `nobody_asked`: it was only told of the rules again.
async fn done(
    cx: &JobContext,
    snapshot: &ShareSnapshotRow,
    rules: &[SnapshotRuleRow],
    states: Vec<RuleState>,
    nobody_asked: bool,
) -> Result<Outcome, TaskError> {
    let states: HashMap<String, RuleState> = states.into_iter().map(|s| (s.id.clone(), s)).collect();
    let now = clock::now();
    let mut refused: Option<DriverError> = None;
    let mut tx = cx.app.store.begin().await?;
    for rule in rules {
        let Some(state) = rule.state() else { continue };
        if state == AccessState::Denying {
            tx.snapshot_rule_remove(&rule.id, AccessState::Denying).await?;
        } else if let Some(said) = states.get(&rule.id) {
            if state != AccessState::Active || said.outcome.is_err() {
                tx.snapshot_rule_end(&rule.id, state, said.outcome.is_ok(), now).await?;
            }
            refused = refused.or_else(|| said.outcome.as_ref().err().cloned());
        }
    }
    if let Some(e) = refused {
        tracing::warn!(snapshot_id = %snapshot.id, host = snapshot.host, error = %e, "the driver refused a snapshot's rule");
        tell(&mut tx, cx, snapshot, ShareAction::UpdateAccessRules, detail(&e), e.user_message.as_deref().unwrap_or_default()).await?;
        event_now(&mut tx, "share_snapshot.access.error", &snapshot.id, &cx.job.request_id).await?;
    } else if !nobody_asked {
        event_now(&mut tx, "share_snapshot.access.end", &snapshot.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}

/// What was under way is in error; what held goes on to hold, unless the share has moved.
async fn failed(
    cx: &JobContext,
    snapshot: &ShareSnapshotRow,
    rules: &[SnapshotRuleRow],
    moved: bool,
    (detail, text): (ShareDetail, &str),
) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = cx.app.store.begin().await?;
    for rule in rules {
        if let Some(state) = rule.state().filter(|s| s.begun().is_some() || (moved && *s == AccessState::Active)) {
            tx.snapshot_rule_end(&rule.id, state, false, now).await?;
        }
    }
    tell(&mut tx, cx, snapshot, ShareAction::UpdateAccessRules, detail, text).await?;
    event_now(&mut tx, "share_snapshot.access.error", &snapshot.id, &cx.job.request_id).await?;
    settled(cx, tx).await
}

/// Why one rule was refused.
fn detail(e: &DriverError) -> ShareDetail {
    match e.kind {
        ErrorKind::Unsupported | ErrorKind::NotImplemented => ShareDetail::UnsupportedClientAccess,
        ErrorKind::Invalid => ShareDetail::ForbiddenClientAccess,
        _ => ShareDetail::DriverFailedAccess,
    }
}
