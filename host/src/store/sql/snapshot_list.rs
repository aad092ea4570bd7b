//! Lists of snapshots: filters in SQL, keyset pages, and the metadata of a whole page in one query.

use super::{
    metadata::MetadataOf,
    snapshots::{SELECT, SnapshotRow},
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
    /// What snapshots can be sorted by.
    pub enum SnapshotSort {
        Id = "id",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        Name = "name",
        Description = "description",
        Size = "volume_size",
        Status = "status",
        Progress = "progress",
        VolumeId = "volume_id",
        ProjectId = "project_id",
        UserId = "user_id",
    }
}

impl ListKey for SnapshotSort {
    type Row = SnapshotRow;
    const KEYS: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
    fn column(self) -> &'static str {
        match self {
            Self::Id => "s.id",
            Self::CreatedAt => "s.created_at",
            Self::UpdatedAt => "COALESCE(s.updated_at, 0)",
            Self::Name => "COALESCE(s.name, '')",
            Self::Description => "COALESCE(s.description, '')",
            Self::Size => "s.size_gib",
            Self::Status => "s.status",
            Self::Progress => "s.progress",
            Self::VolumeId => "s.volume_id",
            Self::ProjectId => "s.project_id",
            Self::UserId => "s.user_id",
        }
    }
    fn value(self, s: &SnapshotRow) -> Value {
        let text = |t: &Option<String>| Value::from(t.clone().unwrap_or_default());
        match self {
            Self::Id => Value::from(s.id.as_str()),
            Self::CreatedAt => Value::from(s.created_at),
            Self::UpdatedAt => Value::from(s.updated_at.unwrap_or(0)),
            Self::Name => text(&s.name),
            Self::Description => text(&s.description),
            Self::Size => Value::from(s.size_gib),
            Self::Status => Value::from(s.status.as_str()),
            Self::Progress => Value::from(s.progress.as_str()),
            Self::VolumeId => Value::from(s.volume_id.as_str()),
            Self::ProjectId => Value::from(s.project_id.as_str()),
            Self::UserId => Value::from(s.user_id.as_str()),
        }
    }
}

/// One condition of a list. Column names come from tables of ours, never from the client.
#[derive(Debug, Clone, PartialEq)]
pub enum SnapshotFilter {
    Project(String),
    /// A column of the snapshot.
    Equals(&'static str, Value),
    /// A column of its volume.
    OfVolume(&'static str, Value),
    /// A column of texts, of the snapshot (`s`) or its volume (`v`), has this in it, letter by letter.
    Contains(&'static str, &'static str, String),
    Metadata(String, String),
    /// Nothing matches.
    Never,
}

/// A list of snapshots to be read.
pub type SnapshotQuery = ListQuery<SnapshotFilter>;

/// A snapshot with all that a view shows.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub row: SnapshotRow,
    pub metadata: Vec<(String, String)>,
}

impl Store {
    /// A page of snapshots.
    pub async fn snapshots(&self, query: &SnapshotQuery) -> StoreResult<Vec<Snapshot>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE TRUE"));
        push_filters(&mut sql, &query.filters);
        query.push_page(&mut sql);
        let rows: Vec<SnapshotRow> = self.fetch_all(sql).await?;
        self.snapshots_completed(rows).await
    }

    /// How many snapshots match.
    pub async fn snapshot_count(&self, filters: &[SnapshotFilter]) -> StoreResult<i64> {
        let mut sql = Sql::new("SELECT COUNT(*) FROM snapshots s JOIN volumes v ON v.id = s.volume_id WHERE TRUE");
        push_filters(&mut sql, filters);
        let (count,): (i64,) = self.fetch_one(sql).await?;
        Ok(count)
    }

    /// One snapshot with all that a view shows.
    pub async fn snapshot_complete(&self, id: &str) -> StoreResult<Option<Snapshot>> {
        let Some(row) = self.snapshot(id).await? else { return Ok(None) };
        Ok(self.snapshots_completed(vec![row]).await?.pop())
    }

    async fn snapshots_completed(&self, rows: Vec<SnapshotRow>) -> StoreResult<Vec<Snapshot>> {
        let mut metadata = self.metadata_of_all(MetadataOf::Snapshot, rows.iter().map(|r| r.id.as_str())).await?;
        Ok(rows.into_iter().map(|row| Snapshot { metadata: metadata.remove(&row.id).unwrap_or_default(), row }).collect())
    }
}

fn push_filters(sql: &mut Sql, filters: &[SnapshotFilter]) {
    for filter in filters {
        match filter {
            SnapshotFilter::Project(id) => sql.push(" AND s.project_id = ").bind(id.as_str()),
            SnapshotFilter::Equals(column, value) => sql.push(" AND s.").push(column).push(" = ").bind(value.clone()),
            SnapshotFilter::OfVolume(column, value) => sql.push(" AND v.").push(column).push(" = ").bind(value.clone()),
            SnapshotFilter::Contains(table, column, part) => push_contains(sql, table, column, part),
            SnapshotFilter::Metadata(key, value) => sql
                .push(" AND EXISTS (SELECT 1 FROM snapshot_metadata m WHERE m.snapshot_id = s.id AND m.key = ")
                .bind(key.as_str())
                .push(" AND m.value = ")
                .bind(value.as_str())
                .push(")"),
            SnapshotFilter::Never => sql.push(" AND 1 = 0"),
        };
    }
}
