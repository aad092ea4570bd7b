//! What existing resources need of a back end's driver, counted when another driver wants to take its place.

use crate::store::{Store, StoreResult, on_read};

/// What a back end holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackendUses {
    pub volumes: i64,
    pub attachments: i64,
    pub snapshots: i64,
    pub pools: Vec<PoolUse>,
}

/// What one pool holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolUse {
    /// The part behind `#`.
    pub name: String,
    pub volumes: i64,
    /// Of them, those that may be attached more than once.
    pub multiattach: i64,
}

impl BackendUses {
    /// Whether anything is there at all.
    pub fn any(&self) -> bool {
        self.volumes > 0
    }
}

impl Store {
    /// What `host@backend` holds now.
    pub async fn backend_uses(&self, host: &str) -> StoreResult<BackendUses> {
        let sql = "SELECT host, COUNT(*), CAST(SUM(CASE WHEN multiattach THEN 1 ELSE 0 END) AS BIGINT) FROM volumes WHERE backend = $1 GROUP BY host";
        let rows: Vec<(Option<String>, i64, i64)> = on_read!(self, p => sqlx::query_as(sql).bind(host).fetch_all(p).await?);
        let sql = "SELECT COUNT(*) FROM attachments a JOIN volumes v ON v.id = a.volume_id WHERE v.backend = $1";
        let (attachments,): (i64,) = on_read!(self, p => sqlx::query_as(sql).bind(host).fetch_one(p).await?);
        let sql = "SELECT COUNT(*) FROM snapshots s JOIN volumes v ON v.id = s.volume_id WHERE s.backed AND v.backend = $1";
        let (snapshots,): (i64,) = on_read!(self, p => sqlx::query_as(sql).bind(host).fetch_one(p).await?);
        let volumes = rows.iter().map(|(_, n, _)| n).sum();
        let pools = rows
            .into_iter()
            .filter_map(|(pool, volumes, multiattach)| {
                let name = pool?.split_once('#')?.1.to_owned();
                Some(PoolUse { name, volumes, multiattach })
            })
            .collect();
        Ok(BackendUses { volumes, attachments, snapshots, pools })
    }
}
