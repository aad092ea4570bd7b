//! Whose turn it is to connect or disconnect on one (back end, connector host). A turn belongs to a claim of a job and lasts
//! for as long as that claim runs: the job's row is the truth, and nothing has to be given back.

use std::time::Duration;

use crate::{
    clock::micros,
    store::{StoreResult, Tx, on_tx},
};

impl Tx {
    /// Takes the turn for this claim; false while another running job has it. The caller commits as the job's owner
    /// ([`JobContext::commit_step`](crate::jobs::JobContext::commit_step)).
    pub async fn take_connect_turn(&mut self, backend: &str, host: &str, job_id: &str, generation: i64) -> StoreResult<bool> {
        // holds the row: what the next statement sees of the holder's job is what is committed by then
        let sql = "INSERT INTO connect_turns (backend, host, job_id, generation, taken_at) VALUES ($1, $2, '', 0, 0) \
                   ON CONFLICT (backend, host) DO UPDATE SET host = excluded.host";
        on_tx!(self, c => sqlx::query(sql).bind(backend).bind(host).execute(c).await?.rows_affected());
        let sql = self.dialect().sql(
            "UPDATE connect_turns SET job_id = $3, generation = $4, taken_at = {now} WHERE backend = $1 AND host = $2 AND (job_id = $3 OR NOT EXISTS \
             (SELECT 1 FROM jobs j WHERE j.id = connect_turns.job_id AND j.generation = connect_turns.generation AND j.state = 'running'))",
        );
        Ok(on_tx!(self, c => sqlx::query(sql).bind(backend).bind(host).bind(job_id).bind(generation).execute(c).await?.rows_affected())
            == 1)
    }

    /// Deletes rows whose turn was taken longer ago than `keep`, unless it still lasts; at most `limit`. How many.
    pub async fn purge_connect_turns(&mut self, keep: Duration, limit: i64) -> StoreResult<u64> {
        let sql = self.dialect().sql(
            "DELETE FROM connect_turns WHERE taken_at <= {now} - $1 AND (backend, host) IN (SELECT t.backend, t.host FROM connect_turns t \
             WHERE t.taken_at <= {now} - $1 AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = t.job_id AND j.state = 'running') LIMIT $2)",
        );
        Ok(on_tx!(self, c => sqlx::query(sql).bind(micros(keep)).bind(limit).execute(c).await?.rows_affected()))
    }
}
