//! `allow_access` of a snapshot.

use std::sync::Arc;

use uuid::Uuid;

use super::{apply, check_mountable, held};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_access::{AccessType, same},
    error::{Error, Result},
    service::{
        share_access::{MOST_RULES, family, too_many},
        share_snapshot,
    },
    store::{StoreError, sql::snapshot_access::SnapshotRuleRow},
};

/// # Errors
/// 400 when it cannot be mounted, its state does not allow it, it has such a rule or its back end does not serve such a client,
/// 403, 404, 413 beyond [`MOST_RULES`].
pub async fn allow(app: &Arc<App>, ctx: &RequestContext, id: &str, kind: AccessType, to: &str) -> Result<SnapshotRuleRow> {
    check_mountable(&share_snapshot::load_row_for(app, ctx, id, "share_snapshot:allow_access").await?)?;
    let mut tx = app.store.begin().await?;
    let (snapshot, host) = held(&mut tx, id).await?;
    family::check(app, Some(&host), kind, to)?;
    let rules = tx.snapshot_rules(id).await?;
    if rules.len() >= MOST_RULES {
        return Err(too_many());
    }
    if rules.iter().any(|r| r.access_type == kind.as_str() && same(&r.access_type, &r.access_to, to)) {
        return Err(exists(kind, to));
    }
    let rule_id = Uuid::new_v4().to_string();
    tx.snapshot_rule_insert(&rule_id, id, kind, to, clock::now()).await.map_err(|e| match e {
        StoreError::Duplicate { .. } => exists(kind, to),
        other => other.into(),
    })?;
    apply(app, ctx, &mut tx, &snapshot, &host).await?;
    let row = tx.snapshot_rule(&rule_id).await?.ok_or_else(|| Error::internal("the rule just inserted is not there"))?;
    tx.commit().await?;
    Ok(row)
}

fn exists(kind: AccessType, to: &str) -> Error {
    Error::invalid(format!("Share snapshot access {kind}:{to:.255} exists."))
}
