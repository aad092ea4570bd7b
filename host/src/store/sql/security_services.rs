//! Security services: what a share server needs to know of a project's LDAP, Kerberos or Active Directory.

use std::collections::HashMap;

use crate::{
    clock::Micros,
    domain::text_enum,
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value},
        keyset::{ListKey, ListQuery},
        on_read, on_tx,
        sql::share_servers::NEVER_BUILT,
    },
};

/// A security service as it stands in the database. The password is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct SecurityServiceRow {
    pub id: String,
    pub project_id: String,
    #[sqlx(rename = "type")]
    pub kind: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub dns_ip: Option<String>,
    pub server: Option<String>,
    pub domain: Option<String>,
    pub user_name: Option<String>,
    pub password: Option<String>,
    pub ou: Option<String>,
    pub default_ad_site: Option<String>,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

impl std::fmt::Debug for SecurityServiceRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecurityServiceRow").field("id", &self.id).field("kind", &self.kind).finish_non_exhaustive()
    }
}

text_enum! {
    /// What security services can be sorted by.
    pub enum ServiceSort {
        Id = "id",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        Name = "name",
        Type = "type",
        ProjectId = "project_id",
    }
}

impl ListKey for ServiceSort {
    type Row = SecurityServiceRow;
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
            Self::Type => "v.type",
            Self::ProjectId => "v.project_id",
        }
    }
    fn value(self, v: &SecurityServiceRow) -> Value {
        match self {
            Self::Id => Value::from(v.id.as_str()),
            Self::CreatedAt => Value::from(v.created_at),
            Self::UpdatedAt => Value::from(v.updated_at.unwrap_or(0)),
            Self::Name => Value::from(v.name.clone().unwrap_or_default()),
            Self::Type => Value::from(v.kind.as_str()),
            Self::ProjectId => Value::from(v.project_id.as_str()),
        }
    }
}

/// One condition of a list. Columns are ours, never a client's text.
#[derive(Debug, Clone, PartialEq)]
pub enum ServiceFilter {
    Equals(&'static str, Value),
    /// Used by this share network.
    Network(String),
    /// Nothing matches.
    Never,
}

/// A list of security services to be read.
pub type ServiceQuery = ListQuery<ServiceFilter>;

/// A change; the outer option says whether a member was given.
#[derive(Clone, Default)]
pub struct ServiceChange {
    pub kind: Option<String>,
    /// Column and value.
    pub texts: Vec<(&'static str, Option<String>)>,
}

const SELECT: &str = "SELECT v.id, v.project_id, v.type, v.name, v.description, v.dns_ip, v.server, v.domain, v.user_name, v.password, v.ou, v.default_ad_site, \
     v.created_at, v.updated_at FROM security_services v";

impl Store {
    pub async fn security_service(&self, id: &str) -> StoreResult<Option<SecurityServiceRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE v.id = $1"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }

    pub async fn security_services(&self, query: &ServiceQuery) -> StoreResult<Vec<SecurityServiceRow>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE TRUE"));
        for filter in &query.filters {
            match filter {
                ServiceFilter::Equals(column, value) => sql.push(" AND ").push(column).push(" = ").bind(value.clone()),
                ServiceFilter::Network(id) => sql
                    .push(" AND EXISTS (SELECT 1 FROM share_network_security_services u WHERE u.security_service_id = v.id AND u.share_network_id = ")
                    .bind(id.as_str())
                    .push(")"),
                ServiceFilter::Never => sql.push(" AND 1 = 0"),
            };
        }
        query.push_page(&mut sql);
        self.fetch_all(sql).await
    }

    /// The networks that use these services, by service.
    pub async fn networks_of_services<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> StoreResult<HashMap<String, Vec<String>>> {
        let mut sql = Sql::new(
            "SELECT u.security_service_id, u.share_network_id FROM share_network_security_services u JOIN share_networks n ON n.id = u.share_network_id \
             WHERE NOT n.deleting AND u.security_service_id IN ",
        );
        sql.bind_list(ids).push(" ORDER BY n.created_at, n.id");
        let mut found: HashMap<String, Vec<String>> = HashMap::new();
        if !sql.values.is_empty() {
            let rows: Vec<(String, String)> = self.fetch_all(sql).await?;
            for (service, network) in rows {
                found.entry(service).or_default().push(network);
            }
        }
        Ok(found)
    }
}

const OF_NETWORK: &str =
    " JOIN share_network_security_services u ON u.security_service_id = v.id WHERE u.share_network_id = $1 ORDER BY v.type, v.id";

impl Store {
    /// The services that a network uses, by kind.
    pub async fn security_services_of(&self, network_id: &str) -> StoreResult<Vec<SecurityServiceRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT}{OF_NETWORK}"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(network_id).fetch_all(p).await?))
    }
}

impl Tx {
    /// The service, held until the transaction ends.
    pub async fn security_service_locked(&mut self, id: &str) -> StoreResult<Option<SecurityServiceRow>> {
        let text = format!("{SELECT} WHERE v.id = $1 {}", self.dialect().expand("{for_update}"));
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(text)).bind(id).fetch_optional(c).await?))
    }

    /// The services that a network uses, by kind.
    pub async fn security_services_of(&mut self, network_id: &str) -> StoreResult<Vec<SecurityServiceRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT}{OF_NETWORK}"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(network_id).fetch_all(c).await?))
    }

    /// How many networks use it, and how many servers those have, but for those that could not be built.
    pub async fn security_service_uses(&mut self, id: &str) -> StoreResult<(i64, i64)> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT COUNT(DISTINCT u.share_network_id), COUNT(v.id) FROM share_network_security_services u \
             LEFT JOIN share_servers v ON v.share_network_id = u.share_network_id AND NOT {NEVER_BUILT} WHERE u.security_service_id = $1"
        ));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_one(c).await?))
    }

    /// Holds the networks that use it, hidden ones too; which. Before the service, as everybody who works on a network.
    pub async fn networks_of_service_locked(&mut self, id: &str) -> StoreResult<Vec<String>> {
        let text = format!(
            "SELECT n.id FROM share_networks n WHERE n.id IN (SELECT u.share_network_id FROM share_network_security_services u \
             WHERE u.security_service_id = $1) ORDER BY n.id {}",
            self.dialect().expand("{for_update}")
        );
        let rows: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(text)).bind(id).fetch_all(c).await?);
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    /// The networks that use it, hidden ones too, by id.
    pub async fn networks_of_service(&mut self, id: &str) -> StoreResult<Vec<String>> {
        let sql = "SELECT share_network_id FROM share_network_security_services WHERE security_service_id = $1 ORDER BY share_network_id";
        let rows: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_all(c).await?);
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    pub async fn security_service_insert(&mut self, v: &SecurityServiceRow) -> StoreResult<()> {
        let sql = "INSERT INTO security_services (id, project_id, type, name, description, dns_ip, server, domain, user_name, password, ou, default_ad_site, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
        on_tx!(self, c => sqlx::query(sql).bind(&v.id).bind(&v.project_id).bind(&v.kind).bind(&v.name).bind(&v.description).bind(&v.dns_ip).bind(&v.server)
            .bind(&v.domain).bind(&v.user_name).bind(&v.password).bind(&v.ou).bind(&v.default_ad_site).bind(v.created_at)
            .execute(c).await?.rows_affected());
        Ok(())
    }

    pub async fn security_service_update(&mut self, id: &str, change: &ServiceChange, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE security_services SET updated_at = ");
        sql.bind(now);
        if let Some(kind) = &change.kind {
            sql.push(", type = ").bind(kind.as_str());
        }
        for (column, value) in &change.texts {
            sql.push(", ").push(column).push(" = ").bind(Value::Text(value.clone()));
        }
        sql.push(" WHERE id = ").bind(id);
        self.run(sql).await
    }

    /// # Errors
    /// [`StoreError::Missing`](crate::store::StoreError::Missing) when a network uses it.
    pub async fn security_service_remove(&mut self, id: &str) -> StoreResult<bool> {
        let sql = "DELETE FROM security_services WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 1)
    }
}
