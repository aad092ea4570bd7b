//! Users of the built-in identity.

use crate::{
    clock::Micros,
    store::{Store, StoreResult, Tx, bind::Sql, on_read, on_tx},
};

#[derive(Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct UserRow {
    pub id: String,
    pub domain_id: String,
    pub name: String,
    pub description: String,
    pub email: Option<String>,
    pub enabled: bool,
    pub default_project_id: Option<String>,
    /// argon2 in PHC form.
    pub password_hash: Option<String>,
    pub created_at: Micros,
}

impl std::fmt::Debug for UserRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserRow").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

/// What an update changes; `Some(None)` empties what may be empty.
#[derive(Clone, Default)]
pub struct UserPatch {
    pub name: Option<String>,
    pub description: Option<String>,
    pub enabled: Option<bool>,
    pub password_hash: Option<String>,
    pub email: Option<Option<String>>,
    pub default_project_id: Option<Option<String>>,
}

/// What a list is narrowed to.
#[derive(Debug, Clone, Copy, Default)]
pub struct UserFilter<'a> {
    pub name: Option<&'a str>,
    pub domain_id: Option<&'a str>,
    pub enabled: Option<bool>,
}

impl Store {
    pub async fn user(&self, id: &str) -> StoreResult<Option<UserRow>> {
        let sql = "SELECT * FROM users WHERE id = $1";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }
    pub async fn user_by_name(&self, domain_id: &str, name: &str) -> StoreResult<Option<UserRow>> {
        let sql = "SELECT * FROM users WHERE domain_id = $1 AND name = $2";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(domain_id).bind(name).fetch_optional(p).await?))
    }
    pub async fn users(&self, filter: &UserFilter<'_>) -> StoreResult<Vec<UserRow>> {
        let mut sql = Sql::new("SELECT * FROM users WHERE 1 = 1");
        for (column, value) in [("name", filter.name), ("domain_id", filter.domain_id)] {
            if let Some(value) = value {
                sql.push(" AND ").push(column).push(" = ").bind(value);
            }
        }
        if let Some(enabled) = filter.enabled {
            sql.push(" AND enabled = ").bind(enabled);
        }
        sql.push(" ORDER BY name, id");
        self.fetch_all(sql).await
    }
}

impl Tx {
    pub async fn insert_user(&mut self, u: &UserRow) -> StoreResult<()> {
        let sql = "INSERT INTO users (id, domain_id, name, description, email, enabled, default_project_id, password_hash, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        on_tx!(self, c => sqlx::query(sql).bind(&u.id).bind(&u.domain_id).bind(&u.name).bind(&u.description).bind(&u.email)
            .bind(u.enabled).bind(&u.default_project_id).bind(&u.password_hash).bind(u.created_at).execute(c).await?.rows_affected());
        Ok(())
    }
    /// The row as it is now; none when there is no such user.
    pub async fn update_user(&mut self, id: &str, patch: &UserPatch) -> StoreResult<Option<UserRow>> {
        let sql = "UPDATE users SET name = COALESCE($2, name), description = COALESCE($3, description), enabled = COALESCE($4, enabled), \
                   password_hash = COALESCE($5, password_hash), email = CASE WHEN $6 THEN $7 ELSE email END, \
                   default_project_id = CASE WHEN $8 THEN $9 ELSE default_project_id END WHERE id = $1 RETURNING *";
        let (email, project) = (patch.email.clone(), patch.default_project_id.clone());
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(id).bind(&patch.name).bind(&patch.description).bind(patch.enabled)
            .bind(&patch.password_hash).bind(email.is_some()).bind(email.flatten()).bind(project.is_some()).bind(project.flatten())
            .fetch_optional(c).await?))
    }
    /// Replaces the password if it is still the one that was checked. False when somebody else was faster.
    pub async fn replace_password(&mut self, id: &str, old_hash: &str, new_hash: &str) -> StoreResult<bool> {
        let sql = "UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(old_hash).bind(new_hash).execute(c).await?.rows_affected()) == 1)
    }
    /// Deletes a user; assignments and tokens go with the row.
    pub async fn delete_user(&mut self, id: &str) -> StoreResult<bool> {
        Ok(on_tx!(self, c => sqlx::query("DELETE FROM users WHERE id = $1").bind(id).execute(c).await?.rows_affected()) == 1)
    }
}
