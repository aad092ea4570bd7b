//! Roles, what they imply, and who has them where.

use sqlx::AssertSqlSafe;

use crate::{
    clock::Micros,
    domain::identity::Scope,
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct RoleRow {
    pub id: String,
    pub name: String,
    pub description: String,
    pub created_at: Micros,
}

/// One assignment, with the names that clients may ask for.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct AssignmentRow {
    pub user_id: String,
    pub user_name: String,
    pub user_domain_id: String,
    pub user_domain_name: String,
    pub role_id: String,
    pub role_name: String,
    pub scope: String,
    pub target_id: String,
    /// Of the project or domain.
    pub target_name: Option<String>,
    pub target_domain_id: Option<String>,
    pub target_domain_name: Option<String>,
}

/// What a list of assignments is narrowed to.
#[derive(Debug, Clone, Copy, Default)]
pub struct AssignmentFilter<'a> {
    pub user_id: Option<&'a str>,
    pub role_id: Option<&'a str>,
    pub scope: Option<&'a Scope>,
}

/// Everything `WITH` needs to find the roles that a set of assigned ones brings.
const CLOSURE: &str = "WITH RECURSIVE held(role_id) AS (SELECT role_id FROM role_assignments WHERE user_id = $1 AND scope = $2 AND target_id = $3 \
                       UNION SELECT i.implied_id FROM implied_roles i JOIN held h ON h.role_id = i.prior_id) ";

impl Store {
    pub async fn role(&self, id: &str) -> StoreResult<Option<RoleRow>> {
        let sql = "SELECT * FROM roles WHERE id = $1";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }
    pub async fn roles(&self, name: Option<&str>) -> StoreResult<Vec<RoleRow>> {
        let named = "SELECT * FROM roles WHERE name = $1";
        let all = "SELECT * FROM roles ORDER BY name";
        Ok(match name {
            Some(name) => on_read!(self, p => sqlx::query_as(named).bind(name).fetch_all(p).await?),
            None => on_read!(self, p => sqlx::query_as(all).fetch_all(p).await?),
        })
    }
    /// Pairs of (role, role it brings).
    pub async fn implied_roles(&self) -> StoreResult<Vec<(String, String)>> {
        let sql = "SELECT prior_id, implied_id FROM implied_roles ORDER BY prior_id, implied_id";
        Ok(on_read!(self, p => sqlx::query_as(sql).fetch_all(p).await?))
    }
    /// The roles a user has for a scope, implied ones included, by name.
    pub async fn effective_roles(&self, user_id: &str, scope: &Scope) -> StoreResult<Vec<RoleRow>> {
        let sql = format!("{CLOSURE} SELECT r.* FROM roles r JOIN held h ON h.role_id = r.id ORDER BY r.name");
        let (kind, target) = scope.parts();
        Ok(on_read!(self, p => sqlx::query_as(AssertSqlSafe(sql)).bind(user_id).bind(kind).bind(target).fetch_all(p).await?))
    }
    /// The roles assigned to a user for exactly this scope.
    pub async fn assigned_roles(&self, user_id: &str, scope: &Scope) -> StoreResult<Vec<RoleRow>> {
        let sql = "SELECT r.* FROM roles r JOIN role_assignments a ON a.role_id = r.id \
                   WHERE a.user_id = $1 AND a.scope = $2 AND a.target_id = $3 ORDER BY r.name";
        let (kind, target) = scope.parts();
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(user_id).bind(kind).bind(target).fetch_all(p).await?))
    }
    pub async fn assignments(&self, filter: &AssignmentFilter<'_>) -> StoreResult<Vec<AssignmentRow>> {
        let mut sql = Sql::new(
            "SELECT a.user_id, u.name AS user_name, u.domain_id AS user_domain_id, ud.name AS user_domain_name, a.role_id, r.name AS role_name, \
             a.scope, a.target_id, COALESCE(p.name, d.name) AS target_name, p.domain_id AS target_domain_id, pd.name AS target_domain_name \
             FROM role_assignments a JOIN users u ON u.id = a.user_id JOIN domains ud ON ud.id = u.domain_id JOIN roles r ON r.id = a.role_id \
             LEFT JOIN projects p ON a.scope = 'project' AND p.id = a.target_id LEFT JOIN domains pd ON pd.id = p.domain_id \
             LEFT JOIN domains d ON a.scope = 'domain' AND d.id = a.target_id WHERE 1 = 1",
        );
        if let Some(user) = filter.user_id {
            sql.push(" AND a.user_id = ").bind(user);
        }
        if let Some(role) = filter.role_id {
            sql.push(" AND a.role_id = ").bind(role);
        }
        if let Some(scope) = filter.scope {
            let (kind, target) = scope.parts();
            sql.push(" AND a.scope = ").bind(kind).push(" AND a.target_id = ").bind(target);
        }
        sql.push(" ORDER BY u.name, a.scope, a.target_id, r.name");
        self.fetch_all(sql).await
    }
}

impl Tx {
    pub async fn insert_role(&mut self, r: &RoleRow) -> StoreResult<()> {
        let sql = "INSERT INTO roles (id, name, description, created_at) VALUES ($1, $2, $3, $4)";
        on_tx!(self, c => sqlx::query(sql).bind(&r.id).bind(&r.name).bind(&r.description).bind(r.created_at).execute(c).await?.rows_affected());
        Ok(())
    }
    pub async fn update_role(&mut self, id: &str, name: Option<&str>, description: Option<&str>) -> StoreResult<Option<RoleRow>> {
        let sql = "UPDATE roles SET name = COALESCE($2, name), description = COALESCE($3, description) WHERE id = $1 RETURNING *";
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(id).bind(name).bind(description).fetch_optional(c).await?))
    }
    /// Deletes a role; its assignments go with the row.
    pub async fn delete_role(&mut self, id: &str) -> StoreResult<bool> {
        Ok(on_tx!(self, c => sqlx::query("DELETE FROM roles WHERE id = $1").bind(id).execute(c).await?.rows_affected()) == 1)
    }
    pub async fn insert_implied_role(&mut self, prior: &str, implied: &str) -> StoreResult<()> {
        let sql = "INSERT INTO implied_roles (prior_id, implied_id) VALUES ($1, $2)";
        on_tx!(self, c => sqlx::query(sql).bind(prior).bind(implied).execute(c).await?.rows_affected());
        Ok(())
    }
    /// Assigns a role; nothing happens when it already is.
    pub async fn assign_role(&mut self, user_id: &str, scope: &Scope, role_id: &str) -> StoreResult<()> {
        let sql = "INSERT INTO role_assignments (user_id, scope, target_id, role_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
        let (kind, target) = scope.parts();
        on_tx!(self, c => sqlx::query(sql).bind(user_id).bind(kind).bind(target).bind(role_id).execute(c).await?.rows_affected());
        Ok(())
    }
    pub async fn unassign_role(&mut self, user_id: &str, scope: &Scope, role_id: &str) -> StoreResult<bool> {
        let sql = "DELETE FROM role_assignments WHERE user_id = $1 AND scope = $2 AND target_id = $3 AND role_id = $4";
        let (kind, target) = scope.parts();
        Ok(on_tx!(self, c => sqlx::query(sql).bind(user_id).bind(kind).bind(target).bind(role_id).execute(c).await?.rows_affected()) == 1)
    }
}
