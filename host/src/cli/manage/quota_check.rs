//! `stowage manage quota check`

use anyhow::Result;
use stowage::{config::Config, store::sql::quota_count::is_counted};

use super::line;

pub async fn quota_check(config: &Config) -> Result<bool> {
    let store = super::open(config).await?;
    let mut tx = store.begin().await?;
    tx.lock_quota().await?;
    let counted = tx.count_quota().await?;
    let drift = tx.quota_check(&counted, is_counted, false).await?;
    tx.rollback().await?;
    store.close().await;
    for d in &drift {
        line(format_args!("project {} {}: recorded {}, counted {}", d.project_id, d.resource, d.recorded, d.counted));
    }
    line(format_args!("{} figures counted, {} differ", counted.len(), drift.len()));
    Ok(drift.is_empty())
}
