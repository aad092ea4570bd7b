//! Projects of the built-in identity.

use crate::{
    clock::Micros,
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ProjectRow {
    pub id: String,
    pub domain_id: String,
    /// None: the domain itself.
    pub parent_id: Option<String>,
    pub name: String,
    pub description: String,
    pub enabled: bool,
    pub created_at: Micros,
}

/// What an update changes.
#[derive(Debug, Clone, Default)]
pub struct ProjectPatch {
    pub name: Option<String>,
    pub description: Option<String>,
    pub enabled: Option<bool>,
}

/// What a list is narrowed to.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProjectFilter<'a> {
    pub name: Option<&'a str>,
    pub domain_id: Option<&'a str>,
    pub parent_id: Option<&'a str>,
    pub enabled: Option<bool>,
    /// Projects this user has some role on.
    pub user_id: Option<&'a str>,
}

impl Store {
    pub async fn project(&self, id: &str) -> StoreResult<Option<ProjectRow>> {
        let sql = "SELECT * FROM projects WHERE id = $1";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }
    pub async fn project_by_name(&self, domain_id: &str, name: &str) -> StoreResult<Option<ProjectRow>> {
        let sql = "SELECT * FROM projects WHERE domain_id = $1 AND name = $2";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(domain_id).bind(name).fetch_optional(p).await?))
    }
    pub async fn projects(&self, filter: &ProjectFilter<'_>) -> StoreResult<Vec<ProjectRow>> {
        let mut sql = Sql::new("SELECT * FROM projects WHERE 1 = 1");
        for (column, value) in [("name", filter.name), ("domain_id", filter.domain_id)] {
            if let Some(value) = value {
                sql.push(" AND ").push(column).push(" = ").bind(value);
            }
        }
        if let Some(parent) = filter.parent_id {
            sql.push(" AND COALESCE(parent_id, domain_id) = ").bind(parent);
        }
        if let Some(enabled) = filter.enabled {
            sql.push(" AND enabled = ").bind(enabled);
        }
        if let Some(user) = filter.user_id {
            sql.push(" AND id IN (SELECT target_id FROM role_assignments WHERE scope = 'project' AND user_id = ").bind(user).push(")");
        }
        sql.push(" ORDER BY name, id");
        self.fetch_all(sql).await
    }
}

impl Tx {
    pub async fn insert_project(&mut self, p: &ProjectRow) -> StoreResult<()> {
        let sql =
            "INSERT INTO projects (id, domain_id, parent_id, name, description, enabled, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)";
        on_tx!(self, c => sqlx::query(sql).bind(&p.id).bind(&p.domain_id).bind(&p.parent_id).bind(&p.name).bind(&p.description)
            .bind(p.enabled).bind(p.created_at).execute(c).await?.rows_affected());
        Ok(())
    }
    /// The row as it is now; none when there is no such project.
    pub async fn update_project(&mut self, id: &str, patch: &ProjectPatch) -> StoreResult<Option<ProjectRow>> {
        let sql = "UPDATE projects SET name = COALESCE($2, name), description = COALESCE($3, description), enabled = COALESCE($4, enabled) \
                   WHERE id = $1 RETURNING *";
        Ok(
            on_tx!(self, c => sqlx::query_as(sql).bind(id).bind(&patch.name).bind(&patch.description).bind(patch.enabled).fetch_optional(c).await?),
        )
    }
    /// Deletes a project without children, with its assignments. False when it is not there, or has children.
    pub async fn delete_project(&mut self, id: &str) -> StoreResult<bool> {
        let sql = "DELETE FROM projects WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM projects c WHERE c.parent_id = $1)";
        let done = on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        if done == 1 {
            let sql = "DELETE FROM role_assignments WHERE scope = 'project' AND target_id = $1";
            on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
            self.revoke_tokens_of_project(id).await?;
        }
        Ok(done == 1)
    }
}
