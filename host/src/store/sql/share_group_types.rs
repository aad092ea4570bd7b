//! The share types that a share group type is for. The rest of it is in [`types`](super::types).

use std::collections::HashMap;

use crate::store::{Store, StoreResult, Tx, bind::Sql, on_tx};

impl Store {
    /// The ids of the share types of each of these group types, in order.
    pub async fn group_types_share_types(&self, type_ids: &[&str]) -> StoreResult<HashMap<String, Vec<String>>> {
        let mut found: HashMap<String, Vec<String>> = HashMap::new();
        if type_ids.is_empty() {
            return Ok(found);
        }
        let mut sql = Sql::new("SELECT type_id, share_type_id FROM share_group_type_share_types WHERE type_id IN ");
        sql.bind_list(type_ids.iter().copied()).push(" ORDER BY type_id, share_type_id");
        for (id, share_type) in self.fetch_all::<(String, String)>(sql).await? {
            found.entry(id).or_default().push(share_type);
        }
        Ok(found)
    }
}

impl Tx {
    /// # Errors
    /// [`StoreError::Missing`](crate::store::StoreError::Missing) when there is no such share type.
    pub async fn group_type_takes(&mut self, type_id: &str, share_type_id: &str) -> StoreResult<()> {
        const SQL: &str = "INSERT INTO share_group_type_share_types (type_id, share_type_id) VALUES ($1, $2)";
        on_tx!(self, c => sqlx::query(SQL).bind(type_id).bind(share_type_id).execute(c).await?.rows_affected());
        Ok(())
    }
}
