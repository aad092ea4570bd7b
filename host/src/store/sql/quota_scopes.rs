//! Limits and figures of a project's users and types, beside those of the whole project. Only the share API has them.

use crate::{
    quota::{QuotaScope, defaults::SHARE_PREFIX},
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

impl Store {
    /// Limits set for exactly this scope, by resource.
    pub async fn quota_limits_within(&self, of: QuotaScope<'_>) -> StoreResult<Vec<(String, i64)>> {
        let sql = "SELECT resource, amount FROM quota_limits WHERE project_id = $1 AND user_id = $2 AND type_id = $3 ORDER BY resource";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(of.project_id).bind(of.user_id).bind(of.type_id).fetch_all(p).await?))
    }

    /// What counts in exactly this scope, by resource.
    pub async fn quota_used_within(&self, of: QuotaScope<'_>) -> StoreResult<Vec<(String, i64)>> {
        let sql = "SELECT resource, used FROM quota_usage WHERE project_id = $1 AND user_id = $2 AND type_id = $3 ORDER BY resource";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(of.project_id).bind(of.user_id).bind(of.type_id).fetch_all(p).await?))
    }

    /// What the users of a project have been promised together, by resource.
    pub async fn quota_promised_to_users(&self, project_id: &str) -> StoreResult<Vec<(String, i64)>> {
        let sql = "SELECT resource, CAST(SUM(amount) AS BIGINT) FROM quota_limits WHERE project_id = $1 AND user_id <> '' AND amount > 0 \
                   GROUP BY resource ORDER BY resource";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(project_id).fetch_all(p).await?))
    }
}

impl Tx {
    /// Sets a scope's own limit.
    pub async fn set_quota_limit_within(&mut self, of: QuotaScope<'_>, resource: &str, amount: i64) -> StoreResult<()> {
        let sql = "INSERT INTO quota_limits (project_id, user_id, type_id, resource, amount) VALUES ($1, $2, $3, $4, $5) \
                   ON CONFLICT (project_id, user_id, type_id, resource) DO UPDATE SET amount = excluded.amount";
        on_tx!(self, c => sqlx::query(sql).bind(of.project_id).bind(of.user_id).bind(of.type_id).bind(resource).bind(amount).execute(c)
            .await?.rows_affected());
        Ok(())
    }

    /// Removes the share API's limits of a scope. Those of a whole project go with those of its users; those of types in it
    /// stay.
    pub async fn delete_share_quota_limits(&mut self, of: QuotaScope<'_>) -> StoreResult<()> {
        let sql = "DELETE FROM quota_limits WHERE project_id = $1 AND type_id = $3 AND (user_id = $2 OR ($2 = '' AND $3 = '')) AND resource LIKE $4";
        on_tx!(self, c => sqlx::query(sql).bind(of.project_id).bind(of.user_id).bind(of.type_id).bind(format!("{SHARE_PREFIX}%")).execute(c)
            .await?.rows_affected());
        Ok(())
    }
}
