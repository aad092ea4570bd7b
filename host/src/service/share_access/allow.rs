//! `allow_access`.

use std::sync::Arc;

use uuid::Uuid;

use super::{MOST_RULES, Rule, apply, family, held, too_many};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{
        resource_lock::{Locked, LockedAction},
        share::RulesStatus,
        share_access::{AccessLevel, AccessType, same},
    },
    error::{Error, Result},
    policy::Target,
    service::{resource_lock, share, share_refusal as refusal},
    store::{StoreError, sql::metadata::MetadataOf},
};

/// From here on a rule in error does not keep others from being added.
const BESIDE_ERRORS_SINCE: u16 = 28;

/// What was asked for, checked as far as words go.
#[derive(Debug, Clone)]
pub struct AllowAccess {
    pub kind: AccessType,
    pub to: String,
    pub level: AccessLevel,
    pub metadata: Vec<(String, String)>,
    /// Locked by the caller, from the beginning.
    pub locks: Vec<LockedAction>,
    pub lock_reason: Option<String>,
}

/// # Errors
/// 400 when the share's state does not allow it, it has such a rule or its back end does not serve such a client, 403, 404, 413
/// beyond [`MOST_RULES`].
pub async fn allow(app: &Arc<App>, ctx: &RequestContext, share_id: &str, ask: AllowAccess) -> Result<Rule> {
    share::load_row_for(app, ctx, share_id, "share:allow_access").await?;
    if !ask.locks.is_empty() {
        app.policy.check(ctx, "resource_lock:create", &Target::own(ctx))?;
    }
    let mut tx = app.store.begin().await?;
    let share = held(&mut tx, ctx, share_id).await?;
    if ctx.microversion < BESIDE_ERRORS_SINCE && share.access_rules_status == RulesStatus::Error.as_str() {
        return Err(refusal::invalid_share(format!("Access rules of share {share_id} are in error: delete the rules that failed first.")));
    }
    family::check(app, share.host.as_deref(), ask.kind, &ask.to)?;
    let rules = tx.share_rules(share_id).await?;
    if rules.len() >= MOST_RULES {
        return Err(too_many());
    }
    if rules.iter().any(|r| r.access_type == ask.kind.as_str() && same(&r.access_type, &r.access_to, &ask.to)) {
        return Err(exists(&ask));
    }
    let (id, now) = (Uuid::new_v4().to_string(), clock::now());
    tx.share_rule_insert(&id, share_id, ask.kind, &ask.to, ask.level, now).await.map_err(|e| match e {
        StoreError::Duplicate { .. } => exists(&ask),
        other => other.into(),
    })?;
    tx.metadata_put(MetadataOf::ShareAccess, &id, &ask.metadata).await?;
    for action in &ask.locks {
        let lock = resource_lock::new(ctx, Locked::AccessRule, &id, *action, ask.lock_reason.clone());
        tx.resource_lock_insert(&lock).await?;
    }
    apply(app, ctx, &mut tx, &share).await?;
    let row = tx.share_rule(&id).await?.ok_or_else(|| Error::internal("the rule just inserted is not there"))?;
    tx.commit().await?;
    Ok(Rule { row, metadata: ask.metadata, hidden: false })
}

fn exists(ask: &AllowAccess) -> Error {
    Error::invalid(format!("Share access {}:{:.255} exists.", ask.kind, ask.to))
}
