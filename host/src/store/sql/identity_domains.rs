//! Domains of the built-in identity.

use crate::{
    clock::Micros,
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct DomainRow {
    pub id: String,
    pub name: String,
    pub description: String,
    pub enabled: bool,
    pub created_at: Micros,
}

/// What an update changes.
#[derive(Debug, Clone, Default)]
pub struct DomainPatch {
    pub name: Option<String>,
    pub description: Option<String>,
    pub enabled: Option<bool>,
}

impl Store {
    pub async fn domain(&self, id: &str) -> StoreResult<Option<DomainRow>> {
        let sql = "SELECT * FROM domains WHERE id = $1";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }
    pub async fn domain_by_name(&self, name: &str) -> StoreResult<Option<DomainRow>> {
        let sql = "SELECT * FROM domains WHERE name = $1";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(name).fetch_optional(p).await?))
    }
    pub async fn domains(&self, name: Option<&str>, enabled: Option<bool>) -> StoreResult<Vec<DomainRow>> {
        let mut sql = Sql::new("SELECT * FROM domains WHERE 1 = 1");
        if let Some(name) = name {
            sql.push(" AND name = ").bind(name);
        }
        if let Some(enabled) = enabled {
            sql.push(" AND enabled = ").bind(enabled);
        }
        sql.push(" ORDER BY name");
        self.fetch_all(sql).await
    }
}

impl Tx {
    pub async fn insert_domain(&mut self, d: &DomainRow) -> StoreResult<()> {
        let sql = "INSERT INTO domains (id, name, description, enabled, created_at) VALUES ($1, $2, $3, $4, $5)";
        on_tx!(self, c => sqlx::query(sql).bind(&d.id).bind(&d.name).bind(&d.description).bind(d.enabled).bind(d.created_at).execute(c).await?.rows_affected());
        Ok(())
    }
    /// The row as it is now; none when there is no such domain.
    pub async fn update_domain(&mut self, id: &str, patch: &DomainPatch) -> StoreResult<Option<DomainRow>> {
        let sql = "UPDATE domains SET name = COALESCE($2, name), description = COALESCE($3, description), enabled = COALESCE($4, enabled) \
                   WHERE id = $1 RETURNING *";
        Ok(
            on_tx!(self, c => sqlx::query_as(sql).bind(id).bind(&patch.name).bind(&patch.description).bind(patch.enabled).fetch_optional(c).await?),
        )
    }
    /// Deletes a disabled domain with its users and projects. False when there is no such domain, or it is enabled.
    pub async fn delete_domain(&mut self, id: &str) -> StoreResult<bool> {
        let of_projects =
            "DELETE FROM role_assignments WHERE scope = 'project' AND target_id IN (SELECT id FROM projects WHERE domain_id = $1)";
        let of_domain = "DELETE FROM role_assignments WHERE scope = 'domain' AND target_id = $1";
        let users = "DELETE FROM users WHERE domain_id = $1";
        let orphans = "UPDATE projects SET parent_id = NULL WHERE domain_id = $1";
        let projects = "DELETE FROM projects WHERE domain_id = $1";
        let disabled = "SELECT id FROM domains WHERE id = $1 AND NOT enabled";
        let found: Option<(String,)> = on_tx!(self, c => sqlx::query_as(disabled).bind(id).fetch_optional(c).await?);
        if found.is_none() {
            return Ok(false);
        }
        self.revoke_tokens_of_domain(id).await?;
        for sql in [of_projects, of_domain, users, orphans, projects] {
            on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        }
        let sql = "DELETE FROM domains WHERE id = $1 AND NOT enabled";
        let done = on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        Ok(done == 1)
    }
}
