//! Issued tokens. A row is a valid token; what revokes a token deletes its row.

use crate::{
    clock::Micros,
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

/// A token to be stored.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// SHA-256 of the token, in hex.
    pub hash: String,
    pub user_id: String,
    pub scope: &'static str,
    pub target_id: String,
    pub methods: String,
    pub audit_ids: String,
    pub issued_at: Micros,
    pub expires_at: Micros,
}

/// A token with what it stands for as of now.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct TokenRow {
    pub user_id: String,
    pub user_name: String,
    pub user_domain_id: String,
    pub user_domain_name: String,
    /// The user and the user's domain are enabled.
    pub user_enabled: bool,
    pub scope: String,
    pub target_id: String,
    /// Of the project or domain in scope; none when it is gone.
    pub target_name: Option<String>,
    /// The domain of the project in scope.
    pub target_domain_id: Option<String>,
    pub target_domain_name: Option<String>,
    /// The target and its domain are enabled; true for system and no scope.
    pub target_enabled: bool,
    pub methods: String,
    pub audit_ids: String,
    pub issued_at: Micros,
    pub expires_at: Micros,
}

impl Store {
    pub async fn token(&self, hash: &str) -> StoreResult<Option<TokenRow>> {
        let sql = "SELECT t.user_id, u.name AS user_name, u.domain_id AS user_domain_id, ud.name AS user_domain_name, \
                   (u.enabled AND ud.enabled) AS user_enabled, t.scope, t.target_id, COALESCE(p.name, d.name) AS target_name, \
                   p.domain_id AS target_domain_id, pd.name AS target_domain_name, \
                   (CASE t.scope WHEN 'project' THEN COALESCE(p.enabled AND pd.enabled, FALSE) WHEN 'domain' THEN COALESCE(d.enabled, FALSE) \
                    ELSE TRUE END) AS target_enabled, t.methods, t.audit_ids, t.issued_at, t.expires_at \
                   FROM tokens t JOIN users u ON u.id = t.user_id JOIN domains ud ON ud.id = u.domain_id \
                   LEFT JOIN projects p ON t.scope = 'project' AND p.id = t.target_id LEFT JOIN domains pd ON pd.id = p.domain_id \
                   LEFT JOIN domains d ON t.scope = 'domain' AND d.id = t.target_id WHERE t.hash = $1";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(hash).fetch_optional(p).await?))
    }
}

impl Tx {
    pub async fn insert_token(&mut self, t: &NewToken) -> StoreResult<()> {
        let sql = "INSERT INTO tokens (hash, user_id, scope, target_id, methods, audit_ids, issued_at, expires_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        on_tx!(self, c => sqlx::query(sql).bind(&t.hash).bind(&t.user_id).bind(t.scope).bind(&t.target_id).bind(&t.methods)
            .bind(&t.audit_ids).bind(t.issued_at).bind(t.expires_at).execute(c).await?.rows_affected());
        Ok(())
    }
    pub async fn revoke_token(&mut self, hash: &str) -> StoreResult<bool> {
        Ok(on_tx!(self, c => sqlx::query("DELETE FROM tokens WHERE hash = $1").bind(hash).execute(c).await?.rows_affected()) == 1)
    }
    pub async fn revoke_tokens_of_user(&mut self, user_id: &str) -> StoreResult<()> {
        on_tx!(self, c => sqlx::query("DELETE FROM tokens WHERE user_id = $1").bind(user_id).execute(c).await?.rows_affected());
        Ok(())
    }
    pub async fn revoke_tokens_of_project(&mut self, project_id: &str) -> StoreResult<()> {
        let sql = "DELETE FROM tokens WHERE scope = 'project' AND target_id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(project_id).execute(c).await?.rows_affected());
        Ok(())
    }
    /// Tokens of the domain's users, and those for the domain or its projects.
    pub async fn revoke_tokens_of_domain(&mut self, domain_id: &str) -> StoreResult<()> {
        let sql = "DELETE FROM tokens WHERE user_id IN (SELECT id FROM users WHERE domain_id = $1) OR (scope = 'domain' AND target_id = $1) \
                   OR (scope = 'project' AND target_id IN (SELECT id FROM projects WHERE domain_id = $1))";
        on_tx!(self, c => sqlx::query(sql).bind(domain_id).execute(c).await?.rows_affected());
        Ok(())
    }
    /// Forgets at most `limit` tokens that expired before `now`.
    pub async fn purge_tokens(&mut self, now: Micros, limit: i64) -> StoreResult<u64> {
        let sql = "DELETE FROM tokens WHERE hash IN (SELECT hash FROM tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(now).bind(limit).execute(c).await?.rows_affected()))
    }
}
