//! Lists of shares and of their instances: filters in SQL, keyset pages, and what a page needs beside the rows in one query
//! each.

use super::{
    metadata::MetadataOf,
    share_locations::LocationRow,
    shares::{SELECT, ShareRow},
};
use crate::{
    domain::text_enum,
    store::{
        Store, StoreResult,
        bind::{Sql, Value, push_contains},
        keyset::{ListKey, ListQuery, push_page},
    },
};

text_enum! {
    /// What shares can be sorted by.
    pub enum ShareSort {
        Id = "id",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        Name = "name",
        Description = "description",
        Size = "size",
        Status = "status",
        ShareProto = "share_proto",
        AvailabilityZone = "availability_zone",
        Host = "host",
        IsPublic = "is_public",
        ProjectId = "project_id",
        UserId = "user_id",
        ShareTypeId = "share_type_id",
        ShareNetworkId = "share_network_id",
        SnapshotId = "snapshot_id",
    }
}

impl ListKey for ShareSort {
    type Row = ShareRow;
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
            Self::ShareProto => "s.share_proto",
            Self::AvailabilityZone => "COALESCE(i.availability_zone, '')",
            Self::Host => "COALESCE(i.host, '')",
            Self::IsPublic => "s.is_public",
            Self::ProjectId => "s.project_id",
            Self::UserId => "s.user_id",
            Self::ShareTypeId => "s.share_type_id",
            Self::ShareNetworkId => "COALESCE(s.share_network_id, '')",
            Self::SnapshotId => "COALESCE(s.snapshot_id, '')",
        }
    }
    fn value(self, s: &ShareRow) -> Value {
        let text = |t: &Option<String>| Value::from(t.clone().unwrap_or_default());
        match self {
            Self::Id => Value::from(s.id.as_str()),
            Self::CreatedAt => Value::from(s.created_at),
            Self::UpdatedAt => Value::from(s.updated_at.unwrap_or(0)),
            Self::Name => text(&s.name),
            Self::Description => text(&s.description),
            Self::Size => Value::from(s.size_gib),
            Self::Status => Value::from(s.status.as_str()),
            Self::ShareProto => Value::from(s.share_proto.as_str()),
            Self::AvailabilityZone => text(&s.availability_zone),
            Self::Host => text(&s.host),
            Self::IsPublic => Value::from(s.is_public),
            Self::ProjectId => Value::from(s.project_id.as_str()),
            Self::UserId => Value::from(s.user_id.as_str()),
            Self::ShareTypeId => Value::from(s.share_type_id.as_str()),
            Self::ShareNetworkId => text(&s.share_network_id),
            Self::SnapshotId => text(&s.snapshot_id),
        }
    }
}

/// One condition of a list. Columns are ours, never a client's text.
#[derive(Debug, Clone, PartialEq)]
pub enum ShareFilter {
    Project(String),
    /// Of this project, or public.
    ProjectOrPublic(String),
    /// Every project's that is public.
    Public,
    /// A column with its table (`s.`, `i.`).
    Equals(&'static str, Value),
    /// A column of the share's has this text in it.
    Contains(&'static str, String),
    Metadata(String, String),
    ExtraSpec(String, String),
    LocationId(String),
    LocationPath(String),
    /// Nothing matches.
    Never,
}

/// A list of shares to be read.
pub type ShareQuery = ListQuery<ShareFilter>;

/// A share with all that a view shows.
#[derive(Debug, Clone)]
pub struct Share {
    pub row: ShareRow,
    pub metadata: Vec<(String, String)>,
    /// Filled where a view shows them.
    pub locations: Vec<LocationRow>,
}

/// What is read beside the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct With {
    pub metadata: bool,
    pub locations: bool,
}

impl Store {
    /// A page of shares.
    pub async fn shares(&self, query: &ShareQuery, with: With) -> StoreResult<Vec<Share>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE "));
        match query.filters.iter().position(|f| matches!(f, ShareFilter::ProjectOrPublic(_))) {
            Some(at) => push_own_and_public(&mut sql, query, at),
            None => {
                sql.push("TRUE");
                push_filters(&mut sql, &query.filters);
            }
        }
        query.push_page(&mut sql);
        let rows: Vec<ShareRow> = self.fetch_all(sql).await?;
        self.shares_completed(rows, with).await
    }

    /// How many shares match.
    pub async fn share_count(&self, filters: &[ShareFilter]) -> StoreResult<i64> {
        let Some(at) = filters.iter().position(|f| matches!(f, ShareFilter::ProjectOrPublic(_))) else {
            return self.count_where(filters).await;
        };
        // each by its own index, and those that are both once: an OR would read every share there is
        let (own, public) = own_and_public(filters, at);
        let both: Vec<ShareFilter> = own.iter().cloned().chain([ShareFilter::Public]).collect();
        Ok(self.count_where(&own).await? + self.count_where(&public).await? - self.count_where(&both).await?)
    }

    async fn count_where(&self, filters: &[ShareFilter]) -> StoreResult<i64> {
        let mut sql = Sql::new("SELECT COUNT(*) FROM shares s JOIN share_instances i ON i.share_id = s.id WHERE TRUE");
        push_filters(&mut sql, filters);
        let (n,): (i64,) = self.fetch_one(sql).await?;
        Ok(n)
    }

    /// A share that was read, with what a view shows beside it.
    pub async fn share_completed(&self, row: ShareRow, with: With) -> StoreResult<Share> {
        Ok(Share {
            metadata: if with.metadata { self.metadata(MetadataOf::Share, &row.id).await? } else { Vec::new() },
            locations: if with.locations { self.share_locations(&row.instance_id).await? } else { Vec::new() },
            row,
        })
    }

    async fn shares_completed(&self, rows: Vec<ShareRow>, with: With) -> StoreResult<Vec<Share>> {
        let mut metadata = std::collections::HashMap::new();
        let mut locations = std::collections::HashMap::new();
        if with.metadata {
            metadata = self.metadata_of_all(MetadataOf::Share, rows.iter().map(|r| r.id.as_str())).await?;
        }
        if with.locations {
            locations = self.share_locations_of_all(rows.iter().map(|r| r.instance_id.as_str())).await?;
        }
        Ok(rows
            .into_iter()
            .map(|row| Share {
                metadata: metadata.remove(&row.id).unwrap_or_default(),
                locations: locations.remove(&row.instance_id).unwrap_or_default(),
                row,
            })
            .collect())
    }
}

/// Appends a condition for the project's page and the page of what is public, whose rows are this page: each is read in the
/// order of its own index. An OR of the two would read every share there is, or sort all that match.
fn push_own_and_public(sql: &mut Sql, query: &ShareQuery, at: usize) {
    let (own, public) = own_and_public(&query.filters, at);
    sql.push("s.id IN (");
    for (n, filters) in [own, public].iter().enumerate() {
        sql.push(if n == 0 { "" } else { " UNION " });
        sql.push("SELECT id FROM (SELECT s.id FROM shares s JOIN share_instances i ON i.share_id = s.id WHERE TRUE");
        push_filters(sql, filters);
        push_page(sql, &query.order, query.after.as_deref(), query.limit.saturating_add(query.offset), 0);
        sql.push(") found");
    }
    sql.push(")");
}

/// The same conditions for the project's shares, and for those that are public.
fn own_and_public(filters: &[ShareFilter], at: usize) -> (Vec<ShareFilter>, Vec<ShareFilter>) {
    let (mut own, mut public) = (filters.to_vec(), filters.to_vec());
    if let ShareFilter::ProjectOrPublic(project) = &filters[at] {
        own[at] = ShareFilter::Project(project.clone());
    }
    public[at] = ShareFilter::Public;
    (own, public)
}

fn push_filters(sql: &mut Sql, filters: &[ShareFilter]) {
    for filter in filters {
        match filter {
            ShareFilter::Project(id) => sql.push(" AND s.project_id = ").bind(id.as_str()),
            ShareFilter::ProjectOrPublic(id) => sql.push(" AND (s.is_public OR s.project_id = ").bind(id.as_str()).push(")"),
            ShareFilter::Public => sql.push(" AND s.is_public"),
            ShareFilter::Equals(column, value) => sql.push(" AND ").push(column).push(" = ").bind(value.clone()),
            ShareFilter::Contains(column, part) => push_contains(sql, "s", column, part),
            ShareFilter::Metadata(key, value) => sql
                .push(" AND EXISTS (SELECT 1 FROM share_metadata m WHERE m.share_id = s.id AND m.key = ")
                .bind(key.as_str())
                .push(" AND m.value = ")
                .bind(value.as_str())
                .push(")"),
            ShareFilter::ExtraSpec(key, value) => sql
                .push(" AND EXISTS (SELECT 1 FROM share_type_specs x WHERE x.type_id = s.share_type_id AND x.key = ")
                .bind(key.as_str())
                .push(" AND x.value = ")
                .bind(value.as_str())
                .push(")"),
            // a path or an id is known to few: the share is looked up by it
            ShareFilter::LocationId(id) => {
                sql.push(" AND i.id IN (SELECT l.share_instance_id FROM share_export_locations l WHERE l.id = ").bind(id.as_str()).push(")")
            }
            ShareFilter::LocationPath(path) => sql
                .push(" AND i.id IN (SELECT l.share_instance_id FROM share_export_locations l WHERE l.path = ")
                .bind(path.as_str())
                .push(")"),
            ShareFilter::Never => sql.push(" AND 1 = 0"),
        };
    }
}
