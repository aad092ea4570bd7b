//! The rules of who may mount a share.
//!
//! A rule waits in a queued state until the share's job takes it up ([`Tx::share_rules_begin`]) and ends it
//! ([`Tx::share_rule_end`]). How the rules stand as a whole stands with the instance ([`Tx::share_rules_status`]), and is
//! always made of the rules themselves.
//!
//! A rule that was denied is withdrawn for good: in error, when it could not be taken away, it looks like one that could not
//! be applied, but whatever tries such rules again goes on taking it away.

use crate::{
    clock::Micros,
    domain::{
        share::RulesStatus,
        share_access::{AccessLevel, AccessState, AccessType},
    },
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct AccessRow {
    pub id: String,
    pub share_id: String,
    pub access_type: String,
    pub access_to: String,
    pub access_level: String,
    pub access_key: Option<String>,
    pub state: String,
    /// It was denied: it goes, and never holds again.
    pub withdrawn: bool,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

impl AccessRow {
    pub fn state(&self) -> Option<AccessState> {
        AccessState::parse(&self.state)
    }
}

const SELECT: &str = "SELECT id, share_id, access_type, access_to, access_level, access_key, state, withdrawn, created_at, updated_at FROM share_access_rules";

/// Which rules of a share are wanted; none is any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessFilter {
    pub access_type: Option<String>,
    pub access_to: Option<String>,
    pub access_level: Option<String>,
    pub access_key: Option<String>,
    pub state: Option<String>,
    pub metadata: Vec<(String, String)>,
}

impl Store {
    pub async fn share_rule(&self, id: &str) -> StoreResult<Option<AccessRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE id = $1"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }

    /// The rules of a share, the oldest first.
    pub async fn share_rules(&self, share_id: &str, filter: &AccessFilter) -> StoreResult<Vec<AccessRow>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE share_id = "));
        sql.bind(share_id);
        for (column, value) in [
            ("access_type", &filter.access_type),
            ("access_to", &filter.access_to),
            ("access_level", &filter.access_level),
            ("access_key", &filter.access_key),
            ("state", &filter.state),
        ] {
            if let Some(value) = value {
                sql.push(" AND ").push(column).push(" = ").bind(value.as_str());
            }
        }
        for (key, value) in &filter.metadata {
            sql.push(" AND EXISTS (SELECT 1 FROM share_access_metadata m WHERE m.access_id = share_access_rules.id AND m.key = ");
            sql.bind(key.as_str()).push(" AND m.value = ").bind(value.as_str()).push(")");
        }
        sql.push(" ORDER BY created_at, id");
        self.fetch_all(sql).await
    }
}

impl Tx {
    pub async fn share_rule(&mut self, id: &str) -> StoreResult<Option<AccessRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE id = $1"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_optional(c).await?))
    }

    /// The rules of a share, the oldest first.
    pub async fn share_rules(&mut self, share_id: &str) -> StoreResult<Vec<AccessRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE share_id = $1 ORDER BY created_at, id"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(share_id).fetch_all(c).await?))
    }

    /// Adds a rule that waits to be applied.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`](crate::store::StoreError::Duplicate) when the share has one of this target.
    pub async fn share_rule_insert(
        &mut self,
        id: &str,
        share_id: &str,
        kind: AccessType,
        to: &str,
        level: AccessLevel,
        now: Micros,
    ) -> StoreResult<()> {
        let sql = "INSERT INTO share_access_rules (id, share_id, access_type, access_to, access_level, state, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(share_id).bind(kind.as_str()).bind(to).bind(level.as_str())
            .bind(AccessState::QueuedToApply.as_str()).bind(now).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The rule is withdrawn, and waits to be taken away; false when it is in none of `from`.
    pub async fn share_rule_withdraw(&mut self, id: &str, from: &[AccessState], now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE share_access_rules SET withdrawn = TRUE, state = ");
        sql.bind(AccessState::QueuedToDeny.as_str()).push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id);
        sql.push(" AND state IN ").bind_list(from.iter().map(|s| s.as_str()));
        self.run(sql).await
    }

    /// Another level for a rule, which waits to be told to the driver. A rule that was not applied yet just gets it. False for
    /// one that goes.
    pub async fn share_rule_level(&mut self, id: &str, level: AccessLevel, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE share_access_rules SET access_level = $2, updated_at = $3, \
                       state = CASE WHEN state = 'queued_to_apply' THEN state ELSE 'queued_to_update' END \
                   WHERE id = $1 AND NOT withdrawn AND state NOT IN ('queued_to_deny', 'denying')";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(level.as_str()).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// Takes up every rule of a share that waits, and those that an earlier run took up; all rules as they are then. With `anew`
    /// the driver is about to hear of the whole list: also rules that it could not take away before.
    pub async fn share_rules_begin(&mut self, share_id: &str, anew: bool, now: Micros) -> StoreResult<Vec<AccessRow>> {
        if anew {
            let sql =
                "UPDATE share_access_rules SET state = 'denying', updated_at = $2 WHERE share_id = $1 AND state = 'error' AND withdrawn";
            on_tx!(self, c => sqlx::query(sql).bind(share_id).bind(now).execute(c).await?.rows_affected());
        }
        for (from, to) in [
            (AccessState::QueuedToApply, AccessState::Applying),
            (AccessState::QueuedToUpdate, AccessState::Updating),
            (AccessState::QueuedToDeny, AccessState::Denying),
        ] {
            let sql = "UPDATE share_access_rules SET state = $3, updated_at = $4 WHERE share_id = $1 AND state = $2";
            on_tx!(self, c => sqlx::query(sql).bind(share_id).bind(from.as_str()).bind(to.as_str()).bind(now).execute(c).await?.rows_affected());
        }
        self.share_rules(share_id).await
    }

    /// What the driver made of a rule: it holds (with its key, where it has one), or it does not. One that it was to take away
    /// is withdrawn, whoever asked for that and when.
    pub async fn share_rule_end(&mut self, id: &str, from: AccessState, holds: bool, key: Option<&str>, now: Micros) -> StoreResult<bool> {
        let to = if holds { AccessState::Active } else { AccessState::Error };
        let sql = "UPDATE share_access_rules SET state = $3, access_key = COALESCE($4, access_key), updated_at = $5, \
                       withdrawn = (withdrawn OR state = 'denying') WHERE id = $1 AND state = $2";
        Ok(
            on_tx!(self, c => sqlx::query(sql).bind(id).bind(from.as_str()).bind(to.as_str()).bind(key).bind(now).execute(c).await?.rows_affected())
                == 1,
        )
    }

    /// A rule that the driver no longer applies is gone, with its locks.
    pub async fn share_rule_remove(&mut self, id: &str, from: &[AccessState]) -> StoreResult<bool> {
        let mut sql = Sql::new("DELETE FROM share_access_rules WHERE id = ");
        sql.bind(id).push(" AND state IN ").bind_list(from.iter().map(|s| s.as_str()));
        let gone = self.run(sql).await?;
        if gone {
            let locks = "DELETE FROM resource_locks WHERE resource_id = $1";
            on_tx!(self, c => sqlx::query(locks).bind(id).execute(c).await?.rows_affected());
        }
        Ok(gone)
    }

    /// How the rules of a share stand: error if one is in error, else syncing while one waits, else active.
    pub async fn share_rules_status(&mut self, share_id: &str, now: Micros) -> StoreResult<RulesStatus> {
        let rules = self.share_rules(share_id).await?;
        let status = if rules.iter().any(|r| r.state() == Some(AccessState::Error)) {
            RulesStatus::Error
        } else if rules.iter().any(|r| r.state().is_some_and(|s| s.begun().is_some())) {
            RulesStatus::Syncing
        } else {
            RulesStatus::Active
        };
        let sql = "UPDATE share_instances SET access_rules_status = $2, updated_at = $3 WHERE share_id = $1 AND access_rules_status <> $2";
        on_tx!(self, c => sqlx::query(sql).bind(share_id).bind(status.as_str()).bind(now).execute(c).await?.rows_affected());
        Ok(status)
    }
}
