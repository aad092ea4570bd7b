//! Lists of share networks: filters in SQL, keyset pages, and what a page needs beside the rows in one query each.

use super::{
    share_network_subnets::Subnet,
    share_networks::{SELECT, ServerSupport, ShareNetworkRow},
};
use crate::{
    clock::Micros,
    domain::text_enum,
    store::{
        Store, StoreResult,
        bind::{Sql, Value, push_contains},
        keyset::{ListKey, ListQuery},
    },
};

text_enum! {
    /// What share networks can be sorted by.
    pub enum NetworkSort {
        Id = "id",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        Name = "name",
        Description = "description",
        Status = "status",
        ProjectId = "project_id",
    }
}

impl ListKey for NetworkSort {
    type Row = ShareNetworkRow;
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
            Self::Status => "n.status",
            Self::ProjectId => "n.project_id",
        }
    }
    fn value(self, n: &ShareNetworkRow) -> Value {
        let text = |t: &Option<String>| Value::from(t.clone().unwrap_or_default());
        match self {
            Self::Id => Value::from(n.id.as_str()),
            Self::CreatedAt => Value::from(n.created_at),
            Self::UpdatedAt => Value::from(n.updated_at.unwrap_or(0)),
            Self::Name => text(&n.name),
            Self::Description => text(&n.description),
            Self::Status => Value::from(n.status.as_str()),
            Self::ProjectId => Value::from(n.project_id.as_str()),
        }
    }
}

/// One condition of a list. Columns are ours, never a client's text.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkFilter {
    Project(String),
    CreatedSince(Micros),
    CreatedBefore(Micros),
    SecurityService(String),
    /// The same by id or name.
    SecurityServiceNamed(String),
    /// A column with its table (`n.`).
    Equals(&'static str, Value),
    /// A column without its table.
    Contains(&'static str, String),
    /// As the two above, of one of its subnets (`s.`).
    SubnetEquals(&'static str, Value),
    SubnetContains(&'static str, String),
    /// Nothing matches.
    Never,
}

/// A list of share networks to be read.
pub type NetworkQuery = ListQuery<NetworkFilter>;

/// A share network with all that a view shows.
#[derive(Debug, Clone)]
pub struct ShareNetwork {
    pub row: ShareNetworkRow,
    /// The oldest first.
    pub subnets: Vec<Subnet>,
    pub support: ServerSupport,
}

impl Store {
    /// A page of share networks; `complete`: with what stands beside the rows.
    pub async fn share_networks(&self, query: &NetworkQuery, complete: bool) -> StoreResult<Vec<ShareNetwork>> {
        let mut sql = Sql::new(SELECT);
        push_filters(&mut sql, &query.filters);
        query.push_page(&mut sql);
        let rows: Vec<ShareNetworkRow> = self.fetch_all(sql).await?;
        if complete {
            return self.share_networks_completed(rows).await;
        }
        let bare = |row| ShareNetwork { row, subnets: Vec::new(), support: ServerSupport::default() };
        Ok(rows.into_iter().map(bare).collect())
    }

    /// One share network with all that a view shows.
    pub async fn share_network_complete(&self, id: &str) -> StoreResult<Option<ShareNetwork>> {
        let Some(row) = self.share_network(id).await? else { return Ok(None) };
        Ok(self.share_networks_completed(vec![row]).await?.pop())
    }

    async fn share_networks_completed(&self, rows: Vec<ShareNetworkRow>) -> StoreResult<Vec<ShareNetwork>> {
        let mut subnets = self.subnets_of_all(rows.iter().map(|r| r.id.as_str()), true).await?;
        let mut support = self.share_network_support(rows.iter().map(|r| r.id.as_str())).await?;
        Ok(rows
            .into_iter()
            .map(|row| ShareNetwork {
                subnets: subnets.remove(&row.id).unwrap_or_default(),
                support: support.remove(&row.id).unwrap_or_default(),
                row,
            })
            .collect())
    }
}

fn push_filters(sql: &mut Sql, filters: &[NetworkFilter]) {
    const SUBNET: &str = " AND EXISTS (SELECT 1 FROM share_network_subnets s WHERE s.share_network_id = n.id AND NOT s.deleting";
    for filter in filters {
        match filter {
            NetworkFilter::Project(id) => sql.push(" AND n.project_id = ").bind(id.as_str()),
            NetworkFilter::CreatedSince(at) => sql.push(" AND n.created_at >= ").bind(*at),
            NetworkFilter::CreatedBefore(at) => sql.push(" AND n.created_at <= ").bind(*at),
            NetworkFilter::SecurityService(id) => sql
                .push(" AND EXISTS (SELECT 1 FROM share_network_security_services u WHERE u.share_network_id = n.id AND u.security_service_id = ")
                .bind(id.as_str())
                .push(")"),
            NetworkFilter::SecurityServiceNamed(name) => sql
                .push(" AND EXISTS (SELECT 1 FROM share_network_security_services u JOIN security_services x ON x.id = u.security_service_id WHERE u.share_network_id = n.id AND (x.id = ")
                .bind(name.as_str())
                .push(" OR x.name = ")
                .bind(name.as_str())
                .push("))"),
            NetworkFilter::Equals(column, value) => sql.push(" AND ").push(column).push(" = ").bind(value.clone()),
            NetworkFilter::Contains(column, text) => push_contains(sql, "n", column, text),
            NetworkFilter::SubnetEquals(column, value) => sql.push(SUBNET).push(" AND ").push(column).push(" = ").bind(value.clone()).push(")"),
            NetworkFilter::SubnetContains(column, text) => {
                sql.push(SUBNET);
                push_contains(sql, "s", column, text).push(")")
            }
            NetworkFilter::Never => sql.push(" AND 1 = 0"),
        };
    }
}
