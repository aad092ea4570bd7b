//! What usage rows should say: counted from the rows themselves, for the quota check.

use crate::store::{StoreResult, Tx, on_tx};

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
    ["volumes", "gigabytes"].iter().any(|r| resource == *r || resource.strip_prefix(r).is_some_and(|rest| rest.starts_with('_')))
}

impl Tx {
    /// Every figure of the block API, from its rows. Read it after [`Tx::lock_quota`] in the same transaction.
    pub async fn count_quota(&mut self) -> StoreResult<Vec<Counted>> {
        const SQL: &str = "\
            SELECT project_id, '' AS user_id, '' AS type_id, 'volumes' AS resource, CAST(COUNT(*) AS BIGINT) AS amount \
              FROM volumes WHERE consumes_quota GROUP BY project_id \
            UNION ALL \
            SELECT project_id, '', '', 'gigabytes', CAST(SUM(size_gib) AS BIGINT) FROM volumes WHERE consumes_quota GROUP BY project_id \
            UNION ALL \
            SELECT v.project_id, '', '', 'volumes_' || t.name, CAST(COUNT(*) AS BIGINT) \
              FROM volumes v JOIN volume_types t ON t.id = v.volume_type_id WHERE v.consumes_quota GROUP BY v.project_id, t.name \
            UNION ALL \
            SELECT v.project_id, '', '', 'gigabytes_' || t.name, CAST(SUM(v.size_gib) AS BIGINT) \
              FROM volumes v JOIN volume_types t ON t.id = v.volume_type_id WHERE v.consumes_quota GROUP BY v.project_id, t.name";
        Ok(on_tx!(self, c => sqlx::query_as(SQL).fetch_all(c).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::is_counted;

    #[test]
    fn figures_of_volumes_are_counted_in_all_and_by_type() {
        assert!(["volumes", "gigabytes", "volumes_gold", "gigabytes_gold"].iter().all(|r| is_counted(r)));
        assert!(!["snapshots", "backups", "backup_gigabytes", "volumesque"].iter().any(|r| is_counted(r)));
    }
}
