//! Hearing what other processes announce.

use super::CHANNEL;
use crate::store::{Store, StoreResult, open::Db};

/// A connection that hears announcements. It only wakes: what is missed while it reconnects is found by polling.
pub struct JobListener(sqlx::postgres::PgListener);

impl JobListener {
    /// The next announcement: empty for "there is work", or the id of a job that ended.
    pub async fn next(&mut self) -> StoreResult<String> {
        Ok(self.0.recv().await?.payload().to_owned())
    }
}

impl Store {
    /// PostgreSQL: hears what other processes announce on [`CHANNEL`]. `None` on SQLite.
    pub async fn job_listener(&self) -> StoreResult<Option<JobListener>> {
        let Db::Postgres(pool) = self.db() else { return Ok(None) };
        let mut listener = sqlx::postgres::PgListener::connect_with(pool).await?;
        listener.listen(CHANNEL).await?;
        Ok(Some(JobListener(listener)))
    }
}
