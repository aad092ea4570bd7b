//! Where snapshots of shares can be mounted, and the rules of who may.
//!
//! A driver tells the whole list of locations; one that is told again keeps its id. A rule waits in a queued state until
//! the snapshot's job takes it up ([`Tx::snapshot_rules_begin`]) and ends it ([`Tx::snapshot_rule_end`]). Rules of
//! snapshots are always read-only. One that was denied is withdrawn for good, as those of shares are.

use std::collections::HashMap;

use uuid::Uuid;

use crate::{
    clock::Micros,
    domain::share_access::{AccessState, AccessType},
    driver::types::ExportLocation,
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

/// A location.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct SnapshotLocationRow {
    pub id: String,
    pub snapshot_instance_id: String,
    pub path: String,
    pub admin_only: bool,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct SnapshotRuleRow {
    pub id: String,
    pub snapshot_id: String,
    pub access_type: String,
    pub access_to: String,
    pub state: String,
    /// It was denied: it goes, and never holds again.
    pub withdrawn: bool,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

impl SnapshotRuleRow {
    pub fn state(&self) -> Option<AccessState> {
        AccessState::parse(&self.state)
    }
}

const LOCATIONS: &str = "SELECT id, snapshot_instance_id, path, admin_only, created_at, updated_at FROM snapshot_export_locations";
const RULES: &str = "SELECT id, snapshot_id, access_type, access_to, state, withdrawn, created_at, updated_at FROM snapshot_access_rules";

impl Store {
    /// The locations of these instances, by instance: for many snapshots in one query.
    pub async fn snapshot_locations_of_all(
        &self,
        ids: impl Iterator<Item = &str>,
    ) -> StoreResult<HashMap<String, Vec<SnapshotLocationRow>>> {
        let mut sql = Sql::new(format!("{LOCATIONS} WHERE snapshot_instance_id IN "));
        sql.bind_list(ids).push(" ORDER BY position, id");
        let mut found: HashMap<String, Vec<SnapshotLocationRow>> = HashMap::new();
        if !sql.values.is_empty() {
            for row in self.fetch_all::<SnapshotLocationRow>(sql).await? {
                found.entry(row.snapshot_instance_id.clone()).or_default().push(row);
            }
        }
        Ok(found)
    }

    /// The locations of a snapshot's instance, in the driver's order.
    pub async fn snapshot_locations(&self, instance_id: &str) -> StoreResult<Vec<SnapshotLocationRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{LOCATIONS} WHERE snapshot_instance_id = $1 ORDER BY position, id"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(instance_id).fetch_all(p).await?))
    }

    /// One location of an instance.
    pub async fn snapshot_location(&self, instance_id: &str, id: &str) -> StoreResult<Option<SnapshotLocationRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{LOCATIONS} WHERE snapshot_instance_id = $1 AND id = $2"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(instance_id).bind(id).fetch_optional(p).await?))
    }

    /// The rules of a snapshot, the oldest first.
    pub async fn snapshot_rules(&self, snapshot_id: &str) -> StoreResult<Vec<SnapshotRuleRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{RULES} WHERE snapshot_id = $1 ORDER BY created_at, id"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(snapshot_id).fetch_all(p).await?))
    }
}

impl Tx {
    /// Writes the whole list as the driver tells it.
    pub async fn snapshot_locations_replace(&mut self, instance_id: &str, locations: &[ExportLocation], now: Micros) -> StoreResult<()> {
        let mut sql = Sql::new("DELETE FROM snapshot_export_locations WHERE snapshot_instance_id = ");
        sql.bind(instance_id);
        if !locations.is_empty() {
            sql.push(" AND path NOT IN ").bind_list(locations.iter().map(|l| l.path.as_str()));
        }
        self.run(sql).await?;
        for (position, location) in (0_i64..).zip(locations) {
            let sql = "INSERT INTO snapshot_export_locations (id, snapshot_instance_id, path, admin_only, position, created_at) \
                       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (snapshot_instance_id, path) \
                       DO UPDATE SET admin_only = EXCLUDED.admin_only, position = EXCLUDED.position, updated_at = EXCLUDED.created_at";
            let id = Uuid::new_v4().to_string();
            on_tx!(self, c => sqlx::query(sql).bind(&id).bind(instance_id).bind(&location.path).bind(location.admin_only).bind(position)
                .bind(now).execute(c).await?.rows_affected());
        }
        Ok(())
    }

    /// The snapshots of a share that somebody may mount.
    pub async fn share_snapshots_with_rules(&mut self, share_id: &str) -> StoreResult<Vec<String>> {
        let sql = "SELECT n.id FROM share_snapshots n WHERE n.share_id = $1 \
                   AND EXISTS (SELECT 1 FROM snapshot_access_rules r WHERE r.snapshot_id = n.id) ORDER BY n.id";
        let rows: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(share_id).fetch_all(c).await?);
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    pub async fn snapshot_rule(&mut self, id: &str) -> StoreResult<Option<SnapshotRuleRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{RULES} WHERE id = $1"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_optional(c).await?))
    }

    /// The rules of a snapshot, the oldest first.
    pub async fn snapshot_rules(&mut self, snapshot_id: &str) -> StoreResult<Vec<SnapshotRuleRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{RULES} WHERE snapshot_id = $1 ORDER BY created_at, id"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(snapshot_id).fetch_all(c).await?))
    }

    /// Adds a rule that waits to be applied.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`](crate::store::StoreError::Duplicate) when the snapshot has one of this target.
    pub async fn snapshot_rule_insert(&mut self, id: &str, snapshot_id: &str, kind: AccessType, to: &str, now: Micros) -> StoreResult<()> {
        let sql = "INSERT INTO snapshot_access_rules (id, snapshot_id, access_type, access_to, state, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(snapshot_id).bind(kind.as_str()).bind(to).bind(AccessState::QueuedToApply.as_str())
            .bind(now).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The rule is withdrawn, and waits to be taken away; false when it is in none of `from`.
    pub async fn snapshot_rule_withdraw(&mut self, id: &str, from: &[AccessState], now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE snapshot_access_rules SET withdrawn = TRUE, state = ");
        sql.bind(AccessState::QueuedToDeny.as_str()).push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id);
        sql.push(" AND state IN ").bind_list(from.iter().map(|s| s.as_str()));
        self.run(sql).await
    }

    /// Takes up every rule of a snapshot that waits, and those that an earlier run took up; all rules as they are then. With
    /// `anew` the driver is about to hear of the whole list: also rules that it could not take away before.
    pub async fn snapshot_rules_begin(&mut self, snapshot_id: &str, anew: bool, now: Micros) -> StoreResult<Vec<SnapshotRuleRow>> {
        if anew {
            let sql = "UPDATE snapshot_access_rules SET state = 'denying', updated_at = $2 WHERE snapshot_id = $1 AND state = 'error' AND withdrawn";
            on_tx!(self, c => sqlx::query(sql).bind(snapshot_id).bind(now).execute(c).await?.rows_affected());
        }
        for (from, to) in [(AccessState::QueuedToApply, AccessState::Applying), (AccessState::QueuedToDeny, AccessState::Denying)] {
            let sql = "UPDATE snapshot_access_rules SET state = $3, updated_at = $4 WHERE snapshot_id = $1 AND state = $2";
            on_tx!(self, c => sqlx::query(sql).bind(snapshot_id).bind(from.as_str()).bind(to.as_str()).bind(now).execute(c).await?.rows_affected());
        }
        self.snapshot_rules(snapshot_id).await
    }

    /// What the driver made of a rule: it holds, or it does not. One that it was to take away is withdrawn, whoever asked for
    /// that and when.
    pub async fn snapshot_rule_end(&mut self, id: &str, from: AccessState, holds: bool, now: Micros) -> StoreResult<bool> {
        let to = if holds { AccessState::Active } else { AccessState::Error };
        let sql = "UPDATE snapshot_access_rules SET state = $3, updated_at = $4, withdrawn = (withdrawn OR state = 'denying') \
                   WHERE id = $1 AND state = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(from.as_str()).bind(to.as_str()).bind(now).execute(c).await?.rows_affected())
            == 1)
    }

    /// A rule that the driver no longer applies is gone.
    pub async fn snapshot_rule_remove(&mut self, id: &str, from: AccessState) -> StoreResult<bool> {
        let sql = "DELETE FROM snapshot_access_rules WHERE id = $1 AND state = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(from.as_str()).execute(c).await?.rows_affected()) == 1)
    }
}
