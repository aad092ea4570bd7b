//! Changes of a share that take a while or are put off: extend, shrink, the recycle bin.
//!
//! The size a share shall get stands in a column of its own (`resize_to`), which the job that ends the resize names. So an
//! end is exact also when somebody gave the share another status meanwhile.

use crate::{
    clock::Micros,
    domain::share::{DELETE_FROM, ShareStatus},
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

impl Store {
    /// Shares in the recycle bin whose time has come, at most `limit`.
    pub async fn shares_due_for_deletion(&self, now: Micros, limit: i64) -> StoreResult<Vec<String>> {
        let sql = "SELECT id FROM shares WHERE is_soft_deleted AND scheduled_to_be_deleted_at <= $1 AND status IN ('available', 'error', 'inactive') \
                   ORDER BY scheduled_to_be_deleted_at, id LIMIT $2";
        let rows: Vec<(String,)> = on_read!(self, p => sqlx::query_as(sql).bind(now).bind(limit).fetch_all(p).await?);
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }
}

impl Tx {
    /// -> extending or shrinking, remembering the size it shall get and where it came from.
    pub async fn share_begin_resize(
        &mut self,
        id: &str,
        from: &[ShareStatus],
        to: ShareStatus,
        to_gib: i64,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE shares SET previous_status = status, status = ");
        sql.bind(to.as_str()).push(", resize_to = ").bind(to_gib).push(", updated_at = ").bind(now);
        // a resize that was told away is still under way
        sql.push(" WHERE id = ").bind(id).push(" AND resize_to IS NULL AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        Ok(self.run(sql).await? && self.instance_status(id, to, now).await?)
    }

    /// The resize to `to_gib` has ended: well (`done`: the size is the new one) or not. A share that still shows `working`
    /// goes to `status`; another status that it was given stays. False: no such resize is under way.
    pub async fn share_end_resize(
        &mut self,
        id: &str,
        to_gib: i64,
        working: ShareStatus,
        done: bool,
        status: ShareStatus,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE shares SET ");
        if done {
            sql.push("size_gib = resize_to, ");
        }
        sql.push("resize_to = NULL, previous_status = NULL, updated_at = ").bind(now);
        sql.push(" WHERE id = ").bind(id).push(" AND resize_to = ").bind(to_gib);
        if !self.run(sql).await? {
            return Ok(false);
        }
        self.share_status(id, &[working], status, now).await?;
        Ok(true)
    }

    /// Into the recycle bin until `until`. False: it is there already, or its status does not allow it.
    pub async fn share_soft_delete(&mut self, id: &str, until: Micros, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE shares SET is_soft_deleted = TRUE, scheduled_to_be_deleted_at = ");
        sql.bind(until).push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id);
        sql.push(" AND NOT is_soft_deleted AND status IN ").bind_list(DELETE_FROM.iter().map(|s| s.as_str()));
        self.run(sql).await
    }

    /// Out of the recycle bin. False: it is not there, or is being deleted.
    pub async fn share_restore(&mut self, id: &str, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE shares SET is_soft_deleted = FALSE, scheduled_to_be_deleted_at = NULL, updated_at = $2 \
                   WHERE id = $1 AND is_soft_deleted AND status NOT IN ('deleting', 'error_deleting')";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(now).execute(c).await?.rows_affected()) == 1)
    }
}
