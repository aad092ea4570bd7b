//! Lists of volumes: filters in SQL, keyset pages, and what a page needs beside the rows in one query each.

use std::collections::HashMap;

use super::{
    attachments::{AttachmentRow, SELECT as SELECT_ATTACHMENT},
    metadata::MetadataOf,
    volumes::{SELECT, VolumeRow},
};
use crate::{
    domain::text_enum,
    store::{
        Store, StoreResult,
        bind::{Sql, Value, push_contains},
        keyset::{ListKey, ListQuery},
    },
};

text_enum! {
    /// What volumes can be sorted by.
    pub enum VolumeSort {
        Id = "id",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        Name = "name",
        Description = "description",
        Size = "size",
        Status = "status",
        AttachStatus = "attach_status",
        AvailabilityZone = "availability_zone",
        Host = "host",
        Bootable = "bootable",
        Multiattach = "multiattach",
        ProjectId = "project_id",
        UserId = "user_id",
        VolumeTypeId = "volume_type_id",
        MigrationStatus = "migration_status",
        ProviderId = "provider_id",
        ServiceUuid = "service_uuid",
    }
}

impl ListKey for VolumeSort {
    type Row = VolumeRow;
    const KEYS: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
    fn column(self) -> &'static str {
        match self {
            Self::Id => "v.id",
            Self::CreatedAt => "v.created_at",
            Self::UpdatedAt => "COALESCE(v.updated_at, 0)",
            Self::Name => "COALESCE(v.name, '')",
            Self::Description => "COALESCE(v.description, '')",
            Self::Size => "v.size_gib",
            Self::Status => "v.status",
            Self::AttachStatus => "v.attach_status",
            Self::AvailabilityZone => "v.availability_zone",
            Self::Host => "COALESCE(v.host, '')",
            Self::Bootable => "v.bootable",
            Self::Multiattach => "v.multiattach",
            Self::ProjectId => "v.project_id",
            Self::UserId => "v.user_id",
            Self::VolumeTypeId => "v.volume_type_id",
            Self::MigrationStatus => "COALESCE(v.migration_status, '')",
            Self::ProviderId => "COALESCE(v.provider_id, '')",
            Self::ServiceUuid => "COALESCE(v.service_uuid, '')",
        }
    }
    fn value(self, v: &VolumeRow) -> Value {
        let text = |t: &Option<String>| Value::from(t.clone().unwrap_or_default());
        match self {
            Self::Id => Value::from(v.id.as_str()),
            Self::CreatedAt => Value::from(v.created_at),
            Self::UpdatedAt => Value::from(v.updated_at.unwrap_or(0)),
            Self::Name => text(&v.name),
            Self::Description => text(&v.description),
            Self::Size => Value::from(v.size_gib),
            Self::Status => Value::from(v.status.as_str()),
            Self::AttachStatus => Value::from(v.attach_status.as_str()),
            Self::AvailabilityZone => Value::from(v.availability_zone.as_str()),
            Self::Host => text(&v.host),
            Self::Bootable => Value::from(v.bootable),
            Self::Multiattach => Value::from(v.multiattach),
            Self::ProjectId => Value::from(v.project_id.as_str()),
            Self::UserId => Value::from(v.user_id.as_str()),
            Self::VolumeTypeId => Value::from(v.volume_type_id.as_str()),
            Self::MigrationStatus => text(&v.migration_status),
            Self::ProviderId => text(&v.provider_id),
            Self::ServiceUuid => text(&v.service_uuid),
        }
    }
}

/// One condition of a list. Column names come from [`VolumeSort`]-like tables of ours, never from the client.
#[derive(Debug, Clone, PartialEq)]
pub enum VolumeFilter {
    Project(String),
    Equals(&'static str, Value),
    IsNull(&'static str),
    /// A column of texts has this in it, letter by letter.
    Contains(&'static str, String),
    /// `created_at` or `updated_at`, one of `> >= = < <= <>`, a time.
    Time(&'static str, &'static str, i64),
    Metadata(String, String),
    /// Nothing matches.
    Never,
}

/// A list of volumes to be read.
pub type VolumeQuery = ListQuery<VolumeFilter>;

/// A volume with all that a view shows.
#[derive(Debug, Clone)]
pub struct Volume {
    pub row: VolumeRow,
    pub metadata: Vec<(String, String)>,
    pub attachments: Vec<AttachmentRow>,
}

impl Store {
    /// A page of volumes, with metadata and attachments of the whole page in one query each.
    pub async fn volumes(&self, query: &VolumeQuery, complete: bool) -> StoreResult<Vec<Volume>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE TRUE"));
        push_filters(&mut sql, &query.filters);
        query.push_page(&mut sql);
        let rows: Vec<VolumeRow> = self.fetch_all(sql).await?;
        self.volumes_completed(rows, complete).await
    }

    /// How many volumes match, and their sizes' sum.
    pub async fn volume_totals(&self, filters: &[VolumeFilter]) -> StoreResult<(i64, i64)> {
        let mut sql = Sql::new("SELECT COUNT(*), CAST(COALESCE(SUM(v.size_gib), 0) AS BIGINT) FROM volumes v WHERE TRUE");
        push_filters(&mut sql, filters);
        self.fetch_one(sql).await
    }

    /// The distinct metadata pairs of the volumes that match.
    pub async fn volume_metadata_pairs(&self, filters: &[VolumeFilter]) -> StoreResult<Vec<(String, String)>> {
        let mut sql = Sql::new("SELECT DISTINCT m.key, m.value FROM volume_metadata m JOIN volumes v ON v.id = m.volume_id WHERE TRUE");
        push_filters(&mut sql, filters);
        sql.push(" ORDER BY m.key, m.value");
        self.fetch_all(sql).await
    }

    /// One volume with all that a view shows.
    pub async fn volume_complete(&self, id: &str) -> StoreResult<Option<Volume>> {
        let Some(row) = self.volume(id).await? else { return Ok(None) };
        Ok(self.volumes_completed(vec![row], true).await?.pop())
    }

    async fn volumes_completed(&self, rows: Vec<VolumeRow>, complete: bool) -> StoreResult<Vec<Volume>> {
        let mut metadata: HashMap<String, Vec<(String, String)>> = HashMap::new();
        let mut attachments: HashMap<String, Vec<AttachmentRow>> = HashMap::new();
        if complete && !rows.is_empty() {
            metadata = self.metadata_of_all(MetadataOf::Volume, rows.iter().map(|r| r.id.as_str())).await?;
            let mut sql = Sql::new(format!("{SELECT_ATTACHMENT} WHERE volume_id IN "));
            sql.bind_list(rows.iter().filter(|r| r.attach_status != "detached").map(|r| r.id.as_str())).push(" ORDER BY created_at, id");
            if !sql.values.is_empty() {
                let found: Vec<AttachmentRow> = self.fetch_all(sql).await?;
                for a in found {
                    attachments.entry(a.volume_id.clone()).or_default().push(a);
                }
            }
        }
        Ok(rows
            .into_iter()
            .map(|row| Volume {
                metadata: metadata.remove(&row.id).unwrap_or_default(),
                attachments: attachments.remove(&row.id).unwrap_or_default(),
                row,
            })
            .collect())
    }
}

fn push_filters(sql: &mut Sql, filters: &[VolumeFilter]) {
    for filter in filters {
        match filter {
            VolumeFilter::Project(id) => sql.push(" AND v.project_id = ").bind(id.as_str()),
            VolumeFilter::Equals(column, value) => sql.push(" AND v.").push(column).push(" = ").bind(value.clone()),
            VolumeFilter::Contains(column, part) => push_contains(sql, "v", column, part),
            VolumeFilter::IsNull(column) => sql.push(" AND v.").push(column).push(" IS NULL"),
            VolumeFilter::Time(column, op, at) => sql.push(" AND v.").push(column).push(" ").push(op).push(" ").bind(*at),
            VolumeFilter::Metadata(key, value) => sql
                .push(" AND EXISTS (SELECT 1 FROM volume_metadata m WHERE m.volume_id = v.id AND m.key = ")
                .bind(key.as_str())
                .push(" AND m.value = ")
                .bind(value.as_str())
                .push(")"),
            VolumeFilter::Never => sql.push(" AND 1 = 0"),
        };
    }
}
