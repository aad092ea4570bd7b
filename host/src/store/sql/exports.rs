//! The connected volumes of a back end, in the order of their ids: what a run that has them exported again walks over.
//!
//! The run itself is a row of [`ensure`](super::ensure). Connected is what has an attachment with a connection.

use crate::{
    clock::Micros,
    store::{Store, StoreResult, Tx, on_read, sql::ensure::NewEnsureRun},
};

/// A volume whose export is asked for, with whose it is.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ConnectedVolume {
    pub id: String,
    pub project_id: String,
    pub user_id: String,
}

const CONNECTED: &str = "EXISTS (SELECT 1 FROM attachments a WHERE a.volume_id = v.id AND a.connection_info IS NOT NULL)";

impl Store {
    /// Whether any volume of a back end is connected.
    pub async fn has_connected_volumes(&self, backend: &str) -> StoreResult<bool> {
        Ok(!self.connected_volumes_after(backend, "", 1).await?.is_empty())
    }

    /// The next connected volumes of a back end, after the one of this id.
    pub async fn connected_volumes_after(&self, backend: &str, after: &str, limit: i64) -> StoreResult<Vec<ConnectedVolume>> {
        let sql = format!(
            "SELECT v.id, v.project_id, v.user_id FROM volumes v WHERE v.backend = $1 AND v.id > $2 AND {CONNECTED} ORDER BY v.id LIMIT $3"
        );
        Ok(on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(backend).bind(after).bind(limit).fetch_all(p).await?))
    }
}

impl Tx {
    /// A new run over connected volumes, and the end of what is kept of runs that ended before `keep_since`.
    pub async fn exports_begin(&mut self, run: &NewEnsureRun, keep_since: Micros) -> StoreResult<()> {
        self.run_begin(run, &format!("SELECT COUNT(*) FROM volumes v WHERE v.backend = $2 AND {CONNECTED}"), keep_since).await
    }
}
