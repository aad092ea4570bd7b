//! `share.access`: tells the driver which rules shall hold, and writes what it made of each.
//!
//! A run takes up every rule that waits; so many changes at once are one call, and a later job of theirs finds nothing to
//! do. The driver is given the whole list and the differences, and changes nothing when it errs: a repeat is the same call.
//! A failure that repeats do not cure puts the rules that were under way in error; those that held go on to hold. A rule
//! changed meanwhile keeps its newer state, and the job of that change takes it up. A rule in error that was denied is taken
//! away when the driver is told everything anew.
//!
//! While the share's server waits for a subnet that it could not be given, the driver is told nothing: the rules are in error
//! by then though they may hold, and to leave them out would end what is mounted. They are sent when the server is healed.

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
        share::ShareStatus,
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
    /// What holds them now never heard of them: none holds unless it says so.
    moved: bool,
    tried: Tried,
}

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
            if tx.share_waits_for_its_server(&share.id).await? {
                return settled(cx, tx).await;
            }
            let rules = tx.share_rules_begin(&share.id, ask.anew, clock::now()).await?;
            let nothing_waits = !rules.iter().any(|r| r.state().is_some_and(AccessState::waits));
            if nothing_waits && !ask.anew {
                return settled(cx, tx).await;
            }
            let change = change(share.cast_rules_to_readonly, &rules, ask.anew);
            cx.commit_step(tx).await?;
            let told = support::driver_share(cx, &share).await?;
            let answer = async {
                let backend = cx.app.drivers.backend(share.backend().unwrap_or_default())?;
                backend.need_access()?.apply(&call(cx, "access"), &told, &change).await
            };
            match answer.await {
                Ok(states) => done(cx, &share, &rules, states, nothing_waits).await,
                Err(e) => {
                    unless_fenced(&e)?;
                    tracing::warn!(share_id = %share.id, host = share.host, error = %e, "the driver did not apply the access rules");
                    // its delete waits: that is not held up
                    let going = share.status == ShareStatus::Deleting.as_str();
                    if let Some(after) = ask.tried.again(&e).filter(|_| !going) {
                        return Ok(Outcome::Again { after, payload: json!(ask), reason: e.to_string() });
                    }
                    failed(cx, &share, &rules, ask.moved, (ShareDetail::DriverFailedAccess, e.user_text())).await
                }
            }
        })
    }

    fn expire<'a>(&'a self, cx: &'a JobContext) -> BoxFuture<'a, Result<Outcome, TaskError>> {
        Box::pin(async move {
            let Some(share) = mine(cx).await? else { return settled(cx, cx.app.store.begin().await?).await };
            let mut tx = cx.app.store.begin().await?;
            let rules = tx.share_rules_begin(&share.id, false, clock::now()).await?;
            cx.commit_step(tx).await?;
            failed(cx, &share, &rules, cx.job.payload["moved"] == json!(true), (ShareDetail::TookTooLong, "")).await
        })
    }
}

/// The share, if rules of it can be applied: it is somewhere. That it is going is no reason: its delete comes after this job, and
/// the share stays when the back end refuses that.
async fn mine(cx: &JobContext) -> Result<Option<ShareRow>, TaskError> {
    let share = cx.app.store.share(&cx.job.resource_id).await?;
    Ok(share.filter(|s| s.host.is_some()))
}

/// What the driver is told. A rule that failed is not among those that shall hold. With `anew` there is no difference: one
/// would be taken for all there is to do.
fn change(readonly: bool, rules: &[AccessRow], anew: bool) -> AccessChange {
    let of =
        |state: AccessState| rules.iter().filter(move |r| r.state() == Some(state)).filter_map(|r| told(r, readonly)).collect::<Vec<_>>();
    let (added, changed) = (of(AccessState::Applying), of(AccessState::Updating));
    let mut all = of(AccessState::Active);
    all.extend(changed.iter().chain(&added).cloned());
    if anew {
        return AccessChange { rules: all, ..AccessChange::default() };
    }
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

/// Each rule as the driver says. `nobody_asked`: it was only told of the rules again.
async fn done(
    cx: &JobContext,
    share: &ShareRow,
    rules: &[AccessRow],
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
        event_now(&mut tx, "share.access.error", &share.id, &cx.job.request_id).await?;
    } else if !nobody_asked {
        event_now(&mut tx, "share.access.end", &share.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}

/// What was under way is in error; what held goes on to hold, unless the share has moved.
async fn failed(
    cx: &JobContext,
    share: &ShareRow,
    rules: &[AccessRow],
    moved: bool,
    (detail, text): (ShareDetail, &str),
) -> Result<Outcome, TaskError> {
    let now = clock::now();
    let mut tx = cx.app.store.begin().await?;
    for rule in rules {
        if let Some(state) = rule.state().filter(|s| s.begun().is_some() || (moved && *s == AccessState::Active)) {
            tx.share_rule_end(&rule.id, state, false, None, now).await?;
        }
    }
    tx.share_rules_status(&share.id, now).await?;
    support::tell(&mut tx, cx, share, ShareAction::UpdateAccessRules, detail, text).await?;
    event_now(&mut tx, "share.access.error", &share.id, &cx.job.request_id).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(id: &str, state: AccessState) -> AccessRow {
        AccessRow {
            id: id.to_owned(),
            share_id: String::new(),
            access_type: "ip".to_owned(),
            access_to: "10.0.0.1".to_owned(),
            access_level: "rw".to_owned(),
            state: state.as_str().to_owned(),
            access_key: None,
            withdrawn: false,
            created_at: 0,
            updated_at: None,
        }
    }

    fn ids(rules: &[AccessRule]) -> Vec<&str> {
        rules.iter().map(|r| r.id.as_str()).collect()
    }

    fn waiting() -> [AccessRow; 5] {
        use AccessState::{Active, Applying, Denying, Error, Updating};
        [rule("holds", Active), rule("new", Applying), rule("other", Updating), rule("going", Denying), rule("failed", Error)]
    }

    #[test]
    fn a_driver_is_told_what_shall_hold_and_what_is_different() {
        let told = change(false, &waiting(), false);
        assert_eq!(ids(&told.rules), ["holds", "other", "new"]);
        assert_eq!((ids(&told.added), ids(&told.changed), ids(&told.removed)), (vec!["new"], vec!["other"], vec!["going"]));
    }

    #[test]
    fn told_anew_there_is_no_difference_though_rules_wait() {
        let told = change(false, &waiting(), true);
        assert_eq!(ids(&told.rules), ["holds", "other", "new"]);
        assert!(told.added.is_empty() && told.changed.is_empty() && told.removed.is_empty());
    }
}
