//! Usage rows and limits.
//!
//! A limit is looked up in the statement that changes the figure: the project's own, else the class `default`, else the
//! configured one. Changes are made in the order of their keys, so that two transactions cannot wait for each other.

use crate::{
    quota::{
        QuotaDelta, QuotaError, UNLIMITED, Usage,
        defaults::{DEFAULT_CLASS, SHARE_PREFIX},
    },
    store::{Store, StoreResult, Tx, on_read, on_tx, sql::quota_count::Counted},
};

/// The limit of (`$1`, `$2`, `$3`, `$4`) with the configured one as `$5`. Where a user's or a type's figure has no limit of its
/// own it has none: the project's stands beside it. A macro, because statements are constants.
macro_rules! limit_sql {
    () => {
        "COALESCE((SELECT l.amount FROM quota_limits l WHERE l.project_id = $1 AND l.user_id = $2 AND l.type_id = $3 AND l.resource = $4), \
         CASE WHEN $2 <> '' OR $3 <> '' THEN -1 END, (SELECT k.amount FROM quota_class_limits k WHERE k.class = 'default' AND k.resource = $4), $5)"
    };
}

impl Store {
    /// The limit that holds for a project.
    pub async fn quota_limit(&self, project_id: &str, resource: &str) -> StoreResult<i64> {
        let sql = concat!("SELECT ", limit_sql!());
        let (limit,): (i64,) = on_read!(self, p => sqlx::query_as(sql).bind(project_id).bind("").bind("").bind(resource).bind(self.quota_defaults().limit(resource)).fetch_one(p).await?);
        Ok(limit)
    }

    /// A project's own figures and limits: those it has a usage row or a limit of its own for. The caller adds the rest
    /// from the class and the configuration.
    pub async fn quota_usage(&self, project_id: &str) -> StoreResult<Vec<Usage>> {
        let used: Vec<(String, i64)> = on_read!(self, p => sqlx::query_as("SELECT resource, used FROM quota_usage WHERE project_id = $1 AND user_id = '' AND type_id = ''").bind(project_id).fetch_all(p).await?);
        let own = self.quota_limits(project_id).await?;
        let class = self.quota_class_limits(DEFAULT_CLASS).await?;
        let mut names: Vec<String> = used.iter().chain(&own).chain(&class).map(|(n, _)| n.clone()).collect();
        names.sort();
        names.dedup();
        let find = |list: &[(String, i64)], name: &str| list.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
        Ok(names
            .into_iter()
            .map(|resource| Usage {
                limit: find(&own, &resource).or_else(|| find(&class, &resource)).unwrap_or_else(|| self.quota_defaults().limit(&resource)),
                used: find(&used, &resource).unwrap_or(0),
                resource,
            })
            .collect())
    }

    /// Limits set for one project.
    pub async fn quota_limits(&self, project_id: &str) -> StoreResult<Vec<(String, i64)>> {
        let sql = "SELECT resource, amount FROM quota_limits WHERE project_id = $1 AND user_id = '' AND type_id = '' ORDER BY resource";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(project_id).fetch_all(p).await?))
    }

    /// Limits set for a class.
    pub async fn quota_class_limits(&self, class: &str) -> StoreResult<Vec<(String, i64)>> {
        let sql = "SELECT resource, amount FROM quota_class_limits WHERE class = $1 ORDER BY resource";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(class).fetch_all(p).await?))
    }
}

impl Tx {
    /// Changes figures, all or none: on [`QuotaError::Exceeded`] the caller drops the transaction.
    pub async fn quota_change(&mut self, deltas: &[QuotaDelta]) -> Result<(), QuotaError> {
        let mut deltas: Vec<&QuotaDelta> = deltas.iter().filter(|d| d.amount != 0).collect();
        deltas.sort();
        for d in deltas {
            if self.change_one(d).await? {
                continue;
            }
            // no row yet, or no room
            self.ensure_usage_row(d).await?;
            if !self.change_one(d).await? {
                return Err(self.refusal(d).await?);
            }
        }
        Ok(())
    }

    /// As [`Tx::quota_change`], whatever the limits: what is there already has only to be counted.
    pub async fn quota_count_in(&mut self, deltas: &[QuotaDelta]) -> StoreResult<()> {
        let mut deltas: Vec<&QuotaDelta> = deltas.iter().filter(|d| d.amount != 0).collect();
        deltas.sort();
        for d in deltas {
            self.ensure_usage_row(d).await?;
            let sql = "UPDATE quota_usage SET used = used + $5 WHERE project_id = $1 AND user_id = $2 AND type_id = $3 AND resource = $4";
            on_tx!(self, c => sqlx::query(sql).bind(&d.project_id).bind(&d.user_id).bind(&d.type_id).bind(&d.resource).bind(d.amount).execute(c)
                .await?.rows_affected());
        }
        Ok(())
    }

    /// False when there is no row, or the limit would be passed.
    async fn change_one(&mut self, d: &QuotaDelta) -> StoreResult<bool> {
        let sql = concat!(
            "UPDATE quota_usage SET used = used + $6 WHERE project_id = $1 AND user_id = $2 AND type_id = $3 AND resource = $4 \
             AND ($6 <= 0 OR ",
            limit_sql!(),
            " < 0 OR used + $6 <= ",
            limit_sql!(),
            ")"
        );
        let default = self.quota_defaults.limit(&d.resource);
        let done = on_tx!(self, c => sqlx::query(sql)
            .bind(&d.project_id)
            .bind(&d.user_id)
            .bind(&d.type_id)
            .bind(&d.resource)
            .bind(default)
            .bind(d.amount)
            .execute(c)
            .await?
            .rows_affected());
        Ok(done == 1)
    }

    /// Two first changes at once both come here; one inserts, the other waits for it and finds the row.
    async fn ensure_usage_row(&mut self, d: &QuotaDelta) -> StoreResult<()> {
        let sql = "INSERT INTO quota_usage (project_id, user_id, type_id, resource, used) VALUES ($1, $2, $3, $4, 0) ON CONFLICT (project_id, user_id, type_id, resource) DO NOTHING";
        on_tx!(self, c => sqlx::query(sql).bind(&d.project_id).bind(&d.user_id).bind(&d.type_id).bind(&d.resource).execute(c).await?.rows_affected());
        Ok(())
    }

    async fn refusal(&mut self, d: &QuotaDelta) -> StoreResult<QuotaError> {
        let sql = concat!(
            "SELECT u.used, ",
            limit_sql!(),
            " FROM quota_usage u WHERE u.project_id = $1 AND u.user_id = $2 AND u.type_id = $3 AND u.resource = $4"
        );
        let default = self.quota_defaults.limit(&d.resource);
        let row: Option<(i64, i64)> = on_tx!(self, c => sqlx::query_as(sql)
            .bind(&d.project_id)
            .bind(&d.user_id)
            .bind(&d.type_id)
            .bind(&d.resource)
            .bind(default)
            .fetch_optional(c)
            .await?);
        let (used, limit) = row.unwrap_or((0, UNLIMITED));
        Ok(QuotaError::Exceeded { resource: d.resource.clone(), limit, used, asked: d.amount })
    }

    /// Sets a project's own limit.
    pub async fn set_quota_limit(&mut self, project_id: &str, resource: &str, amount: i64) -> StoreResult<()> {
        let sql = "INSERT INTO quota_limits (project_id, user_id, type_id, resource, amount) VALUES ($1, '', '', $2, $3) \
                   ON CONFLICT (project_id, user_id, type_id, resource) DO UPDATE SET amount = excluded.amount";
        on_tx!(self, c => sqlx::query(sql).bind(project_id).bind(resource).bind(amount).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Removes a project's own limits of the block API: the defaults hold again. What the share API has set stays.
    pub async fn delete_quota_limits(&mut self, project_id: &str) -> StoreResult<()> {
        let sql = "DELETE FROM quota_limits WHERE project_id = $1 AND resource NOT LIKE $2";
        on_tx!(self, c => sqlx::query(sql).bind(project_id).bind(format!("{SHARE_PREFIX}%")).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Sets a class's limit.
    pub async fn set_quota_class_limit(&mut self, class: &str, resource: &str, amount: i64) -> StoreResult<()> {
        let sql = "INSERT INTO quota_class_limits (class, resource, amount) VALUES ($1, $2, $3) ON CONFLICT (class, resource) DO UPDATE SET amount = excluded.amount";
        on_tx!(self, c => sqlx::query(sql).bind(class).bind(resource).bind(amount).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Holds every figure still until this transaction ends, so that what is counted next agrees with them.
    pub async fn lock_quota(&mut self) -> StoreResult<()> {
        self.lock_table("quota_usage").await
    }

    /// Every usage row, for the check.
    pub async fn all_quota_usage(&mut self) -> StoreResult<Vec<Counted>> {
        let sql = "SELECT project_id, user_id, type_id, resource, used AS amount FROM quota_usage ORDER BY project_id, user_id, type_id, resource";
        Ok(on_tx!(self, c => sqlx::query_as(sql).fetch_all(c).await?))
    }

    /// Overwrites one figure, for the check's repair.
    pub async fn set_quota_usage(&mut self, project_id: &str, user_id: &str, type_id: &str, resource: &str, used: i64) -> StoreResult<()> {
        let sql = "INSERT INTO quota_usage (project_id, user_id, type_id, resource, used) VALUES ($1, $2, $3, $4, $5) \
                   ON CONFLICT (project_id, user_id, type_id, resource) DO UPDATE SET used = excluded.used";
        on_tx!(self, c => sqlx::query(sql).bind(project_id).bind(user_id).bind(type_id).bind(resource).bind(used).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Usage and limits kept under `old` are kept under `new` from now on: a type was renamed.
    pub async fn quota_rename(&mut self, old: &str, new: &str) -> StoreResult<()> {
        // what a type of this name left behind counts nothing
        on_tx!(self, c => sqlx::query("DELETE FROM quota_usage WHERE resource = $1 AND used = 0").bind(new).execute(c).await?.rows_affected());
        on_tx!(self, c => sqlx::query("DELETE FROM quota_limits WHERE resource = $1").bind(new).execute(c).await?.rows_affected());
        for sql in ["UPDATE quota_usage SET resource = $2 WHERE resource = $1", "UPDATE quota_limits SET resource = $2 WHERE resource = $1"]
        {
            on_tx!(self, c => sqlx::query(sql).bind(old).bind(new).execute(c).await?.rows_affected());
        }
        Ok(())
    }

    /// Usage and limits of a type that is gone.
    pub async fn quota_forget_type(&mut self, type_id: &str) -> StoreResult<()> {
        for sql in ["DELETE FROM quota_usage WHERE type_id = $1 AND used = 0", "DELETE FROM quota_limits WHERE type_id = $1"] {
            on_tx!(self, c => sqlx::query(sql).bind(type_id).execute(c).await?.rows_affected());
        }
        Ok(())
    }
}
