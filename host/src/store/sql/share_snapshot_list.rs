//! Lists of shares' snapshots and of their instances: filters in SQL, keyset pages, and the metadata of a whole page in one
//! query.

use super::{
    metadata::MetadataOf,
    share_snapshots::{SELECT, ShareSnapshotRow},
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
    /// What snapshots of shares can be sorted by.
    pub enum ShareSnapshotSort {
        Id = "id",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        Name = "name",
        Description = "description",
        Size = "size",
        Status = "status",
        ShareId = "share_id",
        ShareProto = "share_proto",
        ProjectId = "project_id",
        UserId = "user_id",
    }
}

impl ListKey for ShareSnapshotSort {
    type Row = ShareSnapshotRow;
    const KEYS: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
    fn column(self) -> &'static str {
        match self {
            Self::Id => "n.id",
            Self::CreatedAt => "n.created_at",
            Self::UpdatedAt => "COALESCE(n.updated_at, 0)",
            Self::Name => "COALESCE(n.name, '')",
            Self::Description => "COALESCE(n.description, '')",
            Self::Size => "n.size_gib",
            Self::Status => "n.status",
            Self::ShareId => "n.share_id",
            Self::ShareProto => "n.share_proto",
            Self::ProjectId => "n.project_id",
            Self::UserId => "n.user_id",
        }
    }
    fn value(self, s: &ShareSnapshotRow) -> Value {
        let text = |t: &Option<String>| Value::from(t.clone().unwrap_or_default());
        match self {
            Self::Id => Value::from(s.id.as_str()),
            Self::CreatedAt => Value::from(s.created_at),
            Self::UpdatedAt => Value::from(s.updated_at.unwrap_or(0)),
            Self::Name => text(&s.name),
            Self::Description => text(&s.description),
            Self::Size => Value::from(s.size_gib),
            Self::Status => Value::from(s.status.as_str()),
            Self::ShareId => Value::from(s.share_id.as_str()),
            Self::ShareProto => Value::from(s.share_proto.as_str()),
            Self::ProjectId => Value::from(s.project_id.as_str()),
            Self::UserId => Value::from(s.user_id.as_str()),
        }
    }
}

/// One condition of a list. Columns are ours, never a client's text.
#[derive(Debug, Clone, PartialEq)]
pub enum ShareSnapshotFilter {
    Project(String),
    /// A column with its table (`n.`, `i.`).
    Equals(&'static str, Value),
    /// A column of the snapshot's has this text in it.
    Contains(&'static str, String),
    Metadata(String, String),
    /// Whether a share was made of it that is still there.
    Used(bool),
}

/// A list of snapshots to be read.
pub type ShareSnapshotQuery = ListQuery<ShareSnapshotFilter>;

/// A snapshot with all that a view shows.
#[derive(Debug, Clone)]
pub struct ShareSnapshot {
    pub row: ShareSnapshotRow,
    pub metadata: Vec<(String, String)>,
}

impl Store {
    /// A page of snapshots.
    pub async fn share_snapshots(&self, query: &ShareSnapshotQuery) -> StoreResult<Vec<ShareSnapshot>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE TRUE"));
        push_filters(&mut sql, &query.filters);
        query.push_page(&mut sql);
        let rows: Vec<ShareSnapshotRow> = self.fetch_all(sql).await?;
        self.share_snapshots_completed(rows).await
    }

    /// How many snapshots match.
    pub async fn share_snapshot_total(&self, filters: &[ShareSnapshotFilter]) -> StoreResult<i64> {
        let mut sql = Sql::new("SELECT COUNT(*) FROM share_snapshots n JOIN share_snapshot_instances i ON i.snapshot_id = n.id WHERE TRUE");
        push_filters(&mut sql, filters);
        let (n,): (i64,) = self.fetch_one(sql).await?;
        Ok(n)
    }

    async fn share_snapshots_completed(&self, rows: Vec<ShareSnapshotRow>) -> StoreResult<Vec<ShareSnapshot>> {
        let mut metadata = self.metadata_of_all(MetadataOf::ShareSnapshot, rows.iter().map(|r| r.id.as_str())).await?;
        Ok(rows.into_iter().map(|row| ShareSnapshot { metadata: metadata.remove(&row.id).unwrap_or_default(), row }).collect())
    }
}

fn push_filters(sql: &mut Sql, filters: &[ShareSnapshotFilter]) {
    for filter in filters {
        match filter {
            ShareSnapshotFilter::Project(id) => sql.push(" AND n.project_id = ").bind(id.as_str()),
            ShareSnapshotFilter::Equals(column, value) => sql.push(" AND ").push(column).push(" = ").bind(value.clone()),
            ShareSnapshotFilter::Contains(column, part) => push_contains(sql, "n", column, part),
            ShareSnapshotFilter::Metadata(key, value) => sql
                .push(" AND EXISTS (SELECT 1 FROM share_snapshot_metadata m WHERE m.snapshot_id = n.id AND m.key = ")
                .bind(key.as_str())
                .push(" AND m.value = ")
                .bind(value.as_str())
                .push(")"),
            ShareSnapshotFilter::Used(used) => {
                sql.push(if *used { " AND " } else { " AND NOT " }).push("EXISTS (SELECT 1 FROM shares u WHERE u.snapshot_id = n.id)")
            }
        };
    }
}
