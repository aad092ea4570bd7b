//! Where shares can be mounted.
//!
//! A driver tells the whole list. A location is known again by its path: its id, `created_at` and what users wrote about it
//! stay; what the driver says of it is written over what it said before. Locations that it no longer tells are gone. Which one is
//! preferred is the driver's word in a column, and an administrator's in the pair [`PREFERRED`], which comes before it.

use std::collections::HashMap;

use uuid::Uuid;

use super::metadata::{MetadataOf, Pairs};
use crate::{
    clock::Micros,
    driver::types::ExportLocation,
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

/// A location.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct LocationRow {
    pub id: String,
    pub share_instance_id: String,
    pub path: String,
    pub admin_only: bool,
    /// As an administrator says it in the location's pairs, else as the driver does.
    pub preferred: bool,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

/// The pair in which administrators say whether a location is preferred: true or false.
pub const PREFERRED: &str = "preferred";

const SELECT: &str = "SELECT id, share_instance_id, path, admin_only, COALESCE((SELECT LOWER(m.value) IN ('1', 't', 'true', 'on', 'y', 'yes') FROM share_export_location_metadata m \
     WHERE m.location_id = share_export_locations.id AND m.key = 'preferred'), preferred) AS preferred, created_at, updated_at FROM share_export_locations";

impl Store {
    /// The locations of an instance, in the driver's order.
    pub async fn share_locations(&self, instance_id: &str) -> StoreResult<Vec<LocationRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE share_instance_id = $1 ORDER BY position, id"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(instance_id).fetch_all(p).await?))
    }

    /// The locations of these instances, by instance: for a whole page in one query.
    pub async fn share_locations_of_all(&self, ids: impl Iterator<Item = &str>) -> StoreResult<HashMap<String, Vec<LocationRow>>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE share_instance_id IN "));
        sql.bind_list(ids).push(" ORDER BY position, id");
        let mut found: HashMap<String, Vec<LocationRow>> = HashMap::new();
        if !sql.values.is_empty() {
            let rows: Vec<LocationRow> = self.fetch_all(sql).await?;
            for row in rows {
                found.entry(row.share_instance_id.clone()).or_default().push(row);
            }
        }
        Ok(found)
    }

    /// One location of an instance.
    pub async fn share_location(&self, instance_id: &str, id: &str) -> StoreResult<Option<LocationRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE share_instance_id = $1 AND id = $2"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(instance_id).bind(id).fetch_optional(p).await?))
    }

    /// The pairs of these locations, by location.
    pub async fn share_location_metadata(&self, locations: &[LocationRow]) -> StoreResult<HashMap<String, Pairs>> {
        self.metadata_of_all(MetadataOf::ExportLocation, locations.iter().map(|l| l.id.as_str())).await
    }
}

impl Tx {
    pub async fn share_locations(&mut self, instance_id: &str) -> StoreResult<Vec<LocationRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE share_instance_id = $1 ORDER BY position, id"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(instance_id).fetch_all(c).await?))
    }

    /// `told` is the whole list.
    pub async fn share_locations_replace(&mut self, instance_id: &str, told: &[ExportLocation], now: Micros) -> StoreResult<()> {
        let sql = "SELECT id, share_instance_id, path, admin_only, preferred, created_at, updated_at FROM share_export_locations WHERE share_instance_id = $1";
        let known: Vec<LocationRow> = on_tx!(self, c => sqlx::query_as(sql).bind(instance_id).fetch_all(c).await?);
        for gone in known.iter().filter(|l| !told.iter().any(|t| t.path == l.path)) {
            on_tx!(self, c => sqlx::query("DELETE FROM share_export_locations WHERE id = $1").bind(&gone.id).execute(c).await?.rows_affected());
        }
        for (position, location) in told.iter().enumerate() {
            let position = i64::try_from(position).unwrap_or(i64::MAX);
            let id = match known.iter().find(|l| l.path == location.path) {
                Some(row) => {
                    let same = row.admin_only == location.admin_only && row.preferred == location.preferred;
                    let updated_at = if same { row.updated_at } else { Some(now) };
                    let sql =
                        "UPDATE share_export_locations SET admin_only = $2, preferred = $3, position = $4, updated_at = $5 WHERE id = $1";
                    on_tx!(self, c => sqlx::query(sql).bind(&row.id).bind(location.admin_only).bind(location.preferred).bind(position).bind(updated_at)
                        .execute(c).await?.rows_affected());
                    row.id.clone()
                }
                None => self.share_location_insert(instance_id, location, position, now).await?,
            };
            // the flag is the driver's way to say that
            let pairs: Pairs = location.metadata.iter().filter(|(k, _)| *k != PREFERRED).map(|(k, v)| (k.clone(), v.clone())).collect();
            self.metadata_put(MetadataOf::ExportLocation, &id, &pairs).await?;
        }
        Ok(())
    }

    async fn share_location_insert(
        &mut self,
        instance_id: &str,
        location: &ExportLocation,
        position: i64,
        now: Micros,
    ) -> StoreResult<String> {
        let id = Uuid::new_v4().to_string();
        let sql = "INSERT INTO share_export_locations (id, share_instance_id, path, admin_only, preferred, position, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        on_tx!(self, c => sqlx::query(sql).bind(&id).bind(instance_id).bind(&location.path).bind(location.admin_only).bind(location.preferred)
            .bind(position).bind(now).execute(c).await?.rows_affected());
        Ok(id)
    }
}
