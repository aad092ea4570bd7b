//! What existing resources need of a back end's driver, counted when another driver wants to take its place.

use crate::store::{Store, StoreResult, on_read};

/// What a back end holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackendUses {
    pub volumes: i64,
    pub attachments: i64,
    pub snapshots: i64,
    pub shares: i64,
    /// Rules of who may mount shares.
    pub rules: i64,
    pub share_snapshots: i64,
    /// Of the volumes, those that the array copies to others.
    pub replicated: i64,
    /// Share servers that are moving to it, and such as left something on it.
    pub migrations: i64,
    pub pools: Vec<PoolUse>,
}

/// What one pool holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// The part behind `#`.
    pub name: String,
    pub volumes: i64,
    pub shares: i64,
    /// Of the volumes, those that may be attached more than once.
    pub multiattach: i64,
}

impl BackendUses {
    /// Whether anything is there at all.
    pub fn any(&self) -> bool {
        self.volumes > 0 || self.shares > 0
    }

    /// What is there, for people: `3 volumes`.
    pub fn what(&self) -> String {
        what(self.volumes, self.shares)
    }
}

impl PoolUse {
    /// What is there, for people.
    pub fn what(&self) -> String {
        what(self.volumes, self.shares)
    }
}

fn what(volumes: i64, shares: i64) -> String {
    if shares > 0 { format!("{shares} shares") } else { format!("{volumes} volumes") }
}

impl Store {
    /// What `host@backend` holds now.
    pub async fn backend_uses(&self, host: &str) -> StoreResult<BackendUses> {
        let sql = "SELECT host, COUNT(*), CAST(SUM(CASE WHEN multiattach THEN 1 ELSE 0 END) AS BIGINT) FROM volumes WHERE backend = $1 GROUP BY host";
        let volumes: Vec<(Option<String>, i64, i64)> = on_read!(self, p => sqlx::query_as(sql).bind(host).fetch_all(p).await?);
        let sql = "SELECT host, COUNT(*) FROM share_instances WHERE backend = $1 GROUP BY host";
        let shares: Vec<(Option<String>, i64)> = on_read!(self, p => sqlx::query_as(sql).bind(host).fetch_all(p).await?);
        let name = |pool: Option<String>| Some(pool?.split_once('#')?.1.to_owned());
        let mut uses = BackendUses {
            attachments: self.uses("attachments a JOIN volumes v ON v.id = a.volume_id WHERE v.backend = $1", host).await?,
            snapshots: self.uses("snapshots s JOIN volumes v ON v.id = s.volume_id WHERE s.backed AND v.backend = $1", host).await?,
            rules: self.uses("share_access_rules r JOIN share_instances i ON i.share_id = r.share_id WHERE i.backend = $1", host).await?,
            share_snapshots: self
                .uses(
                    "share_snapshot_instances n JOIN share_instances i ON i.id = n.share_instance_id WHERE n.backed AND i.backend = $1",
                    host,
                )
                .await?,
            replicated: self
                .uses("volumes WHERE replication_status IS NOT NULL AND replication_status <> 'not-capable' AND backend = $1", host)
                .await?,
            migrations: self
                .uses("share_servers v WHERE (v.status = 'server_migrating_to' OR v.left_behind IS NOT NULL) AND v.backend = $1", host)
                .await?,
            volumes: volumes.iter().map(|(_, n, _)| n).sum(),
            shares: shares.iter().map(|(_, n)| n).sum(),
            pools: Vec::new(),
        };
        let of_volumes = volumes
            .into_iter()
            .filter_map(|(pool, volumes, multiattach)| Some(PoolUse { name: name(pool)?, volumes, multiattach, shares: 0 }));
        let of_shares = shares.into_iter().filter_map(|(pool, shares)| Some(PoolUse { name: name(pool)?, shares, ..PoolUse::default() }));
        // a back end is of one kind: no pool has both
        uses.pools.extend(of_volumes.chain(of_shares));
        Ok(uses)
    }

    async fn uses(&self, of: &str, host: &str) -> StoreResult<i64> {
        let sql = sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM {of}"));
        let (n,): (i64,) = on_read!(self, p => sqlx::query_as(sql).bind(host).fetch_one(p).await?);
        Ok(n)
    }
}
