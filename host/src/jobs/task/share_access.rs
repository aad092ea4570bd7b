//! `share.access`: tells the driver which rules shall hold, and writes what it made of each.
//!
//! A run takes up every rule that waits; so many changes at once are one call, and a later job of theirs finds nothing to
//! do. The driver is given the whole list and the differences, and changes nothing when it errs: a repeat is the same call.
//! A failure that repeats do not cure puts the rules that were under way in error; those that held go on to hold. A rule
//! changed meanwhile keeps its newer state, and the job of that change takes it up.

use std::collections::HashMap;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    block_support::call,
    share_support as support,
    tried::{Tried, settled, unless_fenced},
};
use crate::{
    clock,
    domain::{
        share::{ShareStatus, is_one_of},
        share_access::{AccessLevel, AccessState, AccessType},
    },
    driver::{
        DriverError, ErrorKind,
        types::{AccessChange, AccessKind, AccessMode, AccessRule, RuleState},
    },
    jobs::{JobContext, Outcome, Task, TaskError},
    notify::share_message::{ShareAction, ShareDetail},
    service::share::destroy::event_now,
    store::sql::{share_access::AccessRow, shares::ShareRow},
};

pub struct ShareAccess;

/// The job's arguments, and what a run knows of the runs before it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Ask {
    /// The driver shall apply everything anew, though nothing waits: it may have lost the rules.
    anew: bool,
    tried: Tried,
}

const GOING: &[ShareStatus] = &[ShareStatus::Deleting, ShareStatus::ErrorDeleting];

impl Task for ShareAccess {
    fn kind(&self) -> &'static str {
        "share.access"
    }

    fn run<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let mut ask: Ask = serde_json::from_value(cx.job.payload.clone()).unwrap_or_default();
            ask.tried = ask.tried.begin(cx.job.attempts);
            let Some(share) = mine(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut tx = cx.app.store.begin().await?;
            let rules = tx.share_rules_begin(&share.id, clock::now()).await?;
            let change = change(&share, &rules);
            let nothing_waits = change.added.is_empty() && change.removed.is_empty() && change.changed.is_empty();
            if nothing_waits && !ask.anew {
                return settled(cx, tx).await;
            }
            cx.commit_step(tx).await?;
            let told = support::driver_share(cx, &share).await?;
            let answer = async {
                let backend = cx.app.drivers.backend(share.backend().unwrap_or_default())?;
                backend.need_access()?.apply(&call(cx, "access"), &told, &change).await
            };
            match answer.await {
                Ok(states) => done(cx, &share, &rules, states).await,
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(share_id = %share.id, host = share.host, error = %e, "the driver did not apply the access rules");
                    if let Some(after) = ask.tried.again(&e) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    failed(cx, &share, &rules, ShareDetail::DriverFailedAccess, e.user_text()).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(share) = mine(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut tx = cx.app.store.begin().await?;
            let rules = tx.share_rules_begin(&share.id, clock::now()).await?;
            cx.commit_step(tx).await?;
            failed(cx, &share, &rules, ShareDetail::TookTooLong, "").await
        })
    }
}

/// The share, if rules of it can be applied: it is somewhere, and not going.
async fn mine(cx: &JobContext) -> Result<Option<ShareRow>, TaskError> {
    let share = cx.app.store.share(&cx.job.resource_id).await?;
    Ok(share.filter(|s| s.host.is_some() && !is_one_of(&s.status, GOING)))
}

/// What the driver is told. A rule that failed is not among those that shall hold.
fn change(share: &ShareRow, rules: &[AccessRow]) -> AccessChange {
    let of = |state: AccessState| {
        rules.iter().filter(move |r| r.state() == Some(state)).filter_map(|r| told(r, share.cast_rules_to_readonly)).collect::<Vec<_>>()
    };
    let (added, changed) = (of(AccessState::Applying), of(AccessState::Updating));
    let mut all = of(AccessState::Active);
    all.extend(changed.iter().chain(&added).cloned());
    AccessChange { rules: all, added, removed: of(AccessState::Denying), changed }
}

/// What a rule is about, as drivers are told; none for what no version of this service writes.
pub(super) fn kind(word: &str) -> Option<AccessKind> {
    Some(match AccessType::parse(word)? {
        AccessType::Ip => AccessKind::Ip,
        AccessType::User => AccessKind::User,
        AccessType::Cert => AccessKind::Cert,
        AccessType::Cephx => AccessKind::Cephx,
    })
}

/// A rule as its driver is told of it.
pub(super) fn told(rule: &AccessRow, readonly: bool) -> Option<AccessRule> {
    let kind = kind(&rule.access_type)?;
    let level = match AccessLevel::parse(&rule.access_level)? {
        AccessLevel::ReadWrite if !readonly => AccessMode::ReadWrite,
        _ => AccessMode::ReadOnly,
    };
    Some(AccessRule { id: rule.id.clone(), kind, to: rule.access_to.clone(), level, key: rule.access_key.clone() })
}

/// Each rule as the driver says.
async fn done(cx: &JobContext, share: &ShareRow, rules: &[AccessRow], states: Vec<RuleState>) -> Result<Outcome, TaskError> {
    let states: HashMap<String, RuleState> = states.into_iter().map(|s| (s.id.clone(), s)).collect();
    let now = clock::now();
    let mut refused: Option<DriverError> = None;
    let mut tx = cx.app.store.begin().await?;
    for rule in rules {
        let Some(state) = rule.state() else { continue };
        if state == AccessState::Denying {
            tx.share_rule_remove(&rule.id, &[AccessState::Denying]).await?;
        } else if let Some(said) = states.get(&rule.id) {
            let unchanged = state == AccessState::Active && said.outcome.is_ok() && (said.key.is_none() || said.key == rule.access_key);
            if !unchanged {
                tx.share_rule_end(&rule.id, state, said.outcome.is_ok(), said.key.as_deref(), now).await?;
            }
            refused = refused.or_else(|| said.outcome.as_ref().err().cloned());
        }
    }
    tx.share_rules_status(&share.id, now).await?;
    if let Some(e) = refused {
        tracing::warn!(share_id = %share.id, host = share.host, error = %e, "the driver refused an access rule");
        support::tell(&mut tx, cx, share, ShareAction::UpdateAccessRules, detail(&e), e.user_message.as_deref().unwrap_or_default())
            .await?;
    }
    event_now(&mut tx, "share.access.end", &share.id, &cx.job.request_id).await?;
    settled(cx, tx).await
}

/// What was under way is in error; what held goes on to hold.
async fn failed(cx: &JobContext, share: &ShareRow, rules: &[AccessRow], detail: ShareDetail, text: &str) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = cx.app.store.begin().await?;
    for rule in rules {
        if let Some(state) = rule.state().filter(|s| s.begun().is_some()) {
            tx.share_rule_end(&rule.id, state, false, None, now).await?;
        }
    }
    tx.share_rules_status(&share.id, now).await?;
    support::tell(&mut tx, cx, share, ShareAction::UpdateAccessRules, detail, text).await?;
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
