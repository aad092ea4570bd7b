//! Order keys that are held: their jobs wait until the holder lets go.
//!
//! For work on many resources at once, which cannot be a job of each. Whoever takes a key takes the key's lock first, as an
//! insertion does, so no job begins beside it. The holder is itself owned by a job, which lets go whatever happens.

use crate::store::{StoreResult, Tx, bind::Sql};

impl Tx {
    /// Takes those of `keys` that have no unfinished job and that nobody holds; which.
    pub async fn hold_order_keys(&mut self, keys: &[String], holder: &str) -> StoreResult<Vec<String>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.lock_keys(keys).await?;
        let mut sql = Sql::new("SELECT order_key FROM jobs WHERE state <> 'done' AND order_key IN ");
        sql.bind_list(keys.iter().map(String::as_str)).push(" UNION SELECT order_key FROM job_holds WHERE order_key IN ");
        sql.bind_list(keys.iter().map(String::as_str));
        let taken: Vec<(String,)> = self.fetch_all(sql).await?;
        let free: Vec<String> = keys.iter().filter(|k| !taken.iter().any(|(t,)| t == *k)).cloned().collect();
        if !free.is_empty() {
            let mut sql = Sql::new("INSERT INTO job_holds (order_key, holder) VALUES ");
            for (n, key) in free.iter().enumerate() {
                sql.push(if n == 0 { "(" } else { ", (" }).bind(key.as_str()).push(", ").bind(holder).push(")");
            }
            self.run(sql).await?;
        }
        Ok(free)
    }

    /// Lets go of `keys`. The caller wakes the queue after the commit.
    pub async fn release_order_keys(&mut self, keys: &[String], holder: &str) -> StoreResult<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let mut sql = Sql::new("DELETE FROM job_holds WHERE holder = ");
        sql.bind(holder).push(" AND order_key IN ").bind_list(keys.iter().map(String::as_str));
        self.run(sql).await?;
        Ok(())
    }
}
