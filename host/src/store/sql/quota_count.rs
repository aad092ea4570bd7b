//! What usage rows should say: counted from the rows themselves, for the quota check.

use crate::{
    quota::defaults::SHARE_PREFIX,
    store::{StoreResult, Tx, on_tx},
};

/// A figure of one (project, user, type, resource): what its rows add up to, or what its usage row says.
#[derive(Debug, Clone, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct Counted {
    pub project_id: String,
    pub user_id: String,
    pub type_id: String,
    pub resource: String,
    pub amount: i64,
}

/// Resources that [`Tx::count_quota`] counts; figures of others are not compared.
pub fn is_counted(resource: &str) -> bool {
    if let Some(resource) = resource.strip_prefix(SHARE_PREFIX) {
        return ["shares", "gigabytes", "share_networks", "snapshots", "snapshot_gigabytes"].contains(&resource);
    }
    ["volumes", "gigabytes", "snapshots"]
        .iter()
        .any(|r| resource == *r || resource.strip_prefix(r).is_some_and(|rest| rest.starts_with('_')))
}

impl Tx {
    /// Every figure of both APIs, from their rows. Read it after [`Tx::lock_quota`] in the same transaction. A volume that
    /// is being extended counts with its new size, one that is being retyped counts for both types.
    pub async fn count_quota(&mut self) -> StoreResult<Vec<Counted>> {
        // both tables as (project, type, volumes, snapshots, GiB)
        const ROWS: &str = "\
            WITH held AS ( \
              SELECT v.project_id, v.volume_type_id AS type_id, 1 AS volumes, 0 AS snapshots, COALESCE(v.extend_to, v.size_gib) AS gib, TRUE AS own \
                FROM volumes v WHERE v.consumes_quota \
              UNION ALL SELECT v.project_id, v.retype_to, 1, 0, COALESCE(v.extend_to, v.size_gib), FALSE \
                FROM volumes v WHERE v.consumes_quota AND v.retype_to IS NOT NULL \
              UNION ALL SELECT s.project_id, v.volume_type_id, 0, 1, s.quota_gib, TRUE FROM snapshots s JOIN volumes v ON v.id = s.volume_id \
              UNION ALL SELECT s.project_id, v.retype_to, 0, 1, s.quota_gib, FALSE \
                FROM snapshots s JOIN volumes v ON v.id = s.volume_id WHERE v.retype_to IS NOT NULL \
            ), counted AS ( \
              SELECT h.project_id, '' AS suffix, SUM(h.volumes) AS volumes, SUM(h.snapshots) AS snapshots, SUM(h.gib) AS gib \
                FROM held h WHERE h.own GROUP BY h.project_id \
              UNION ALL SELECT h.project_id, '_' || t.name, SUM(h.volumes), SUM(h.snapshots), SUM(h.gib) \
                FROM held h JOIN volume_types t ON t.id = h.type_id GROUP BY h.project_id, t.name \
            ) ";
        const FIGURES: &str = "\
            SELECT project_id, '' AS user_id, '' AS type_id, 'volumes' || suffix AS resource, CAST(volumes AS BIGINT) AS amount FROM counted \
            UNION ALL SELECT project_id, '', '', 'snapshots' || suffix, CAST(snapshots AS BIGINT) FROM counted \
            UNION ALL SELECT project_id, '', '', 'gigabytes' || suffix, CAST(gib AS BIGINT) FROM counted";
        let sql = format!("{ROWS}{FIGURES}");
        let mut all: Vec<Counted> = on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(sql)).fetch_all(c).await?);
        all.extend(self.count_share_quota().await?);
        Ok(all)
    }

    /// Shares count for their project, for their user in it, and for their type in it; with the size that a growing one shall
    /// get. So do their snapshots, with the type of their share. Share networks count for their project and for their user in it.
    async fn count_share_quota(&mut self) -> StoreResult<Vec<Counted>> {
        const ROWS: &str = "\
            WITH held AS ( \
              SELECT project_id, user_id, share_type_id AS type_id, CASE WHEN resize_to > size_gib THEN resize_to ELSE size_gib END AS gib, \
                'share:shares' AS counts_in, 'share:gigabytes' AS weighs_in FROM shares \
              UNION ALL SELECT n.project_id, n.user_id, s.share_type_id, n.size_gib, 'share:snapshots', 'share:snapshot_gigabytes' \
                FROM share_snapshots n JOIN shares s ON s.id = n.share_id \
            ), counted AS ( \
              SELECT project_id, '' AS user_id, '' AS type_id, counts_in, weighs_in, COUNT(*) AS n, SUM(gib) AS gib \
                FROM held GROUP BY project_id, counts_in, weighs_in \
              UNION ALL SELECT project_id, user_id, '', counts_in, weighs_in, COUNT(*), SUM(gib) \
                FROM held GROUP BY project_id, user_id, counts_in, weighs_in \
              UNION ALL SELECT project_id, '', type_id, counts_in, weighs_in, COUNT(*), SUM(gib) \
                FROM held GROUP BY project_id, type_id, counts_in, weighs_in \
            ) ";
        const FIGURES: &str = "\
            SELECT project_id, user_id, type_id, counts_in AS resource, CAST(n AS BIGINT) AS amount FROM counted \
            UNION ALL SELECT project_id, user_id, type_id, weighs_in, CAST(gib AS BIGINT) FROM counted";
        // one that is being deleted is gone for its project
        const NETWORKS: &str = " \
            UNION ALL SELECT project_id, '', '', 'share:share_networks', CAST(COUNT(*) AS BIGINT) FROM share_networks WHERE NOT deleting GROUP BY project_id \
            UNION ALL SELECT project_id, user_id, '', 'share:share_networks', CAST(COUNT(*) AS BIGINT) FROM share_networks WHERE NOT deleting \
              GROUP BY project_id, user_id";
        let sql = format!("{ROWS}{FIGURES}{NETWORKS}");
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(sql)).fetch_all(c).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::is_counted;

    #[test]
    fn figures_of_volumes_and_snapshots_are_counted_in_all_and_by_type() {
        assert!(["volumes", "gigabytes", "snapshots", "volumes_gold", "gigabytes_gold", "snapshots_gold"].iter().all(|r| is_counted(r)));
        let shares = ["share:shares", "share:gigabytes", "share:snapshots", "share:snapshot_gigabytes", "share:share_networks"];
        assert!(shares.iter().all(|r| is_counted(r)));
        assert!(!["backups", "backup_gigabytes", "volumesque", "share:share_groups"].iter().any(|r| is_counted(r)));
    }
}
