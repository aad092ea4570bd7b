//! Shares and their instances: the row, its conditional changes.
//!
//! A share is what its owner sees; its instance is what lies on a back end. Every share has one instance, and the two are
//! read as one row and written together: [`Tx::share_status`] is the one place that changes a status. Every change of it
//! names the states it may start from and says whether it happened.

use crate::{
    clock::{self, Micros},
    domain::{
        host::{backend_of, pool_of},
        share::{CREATING, RulesStatus, ShareStatus},
        share_type::Attributes,
    },
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value},
        on_read, on_tx,
    },
};

/// A share with its type's name and its instance, as they stand in the database.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct ShareRow {
    pub id: String,
    pub project_id: String,
    pub user_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub size_gib: i64,
    pub share_proto: String,
    pub share_type_id: String,
    pub type_name: String,
    pub share_network_id: Option<String>,
    pub snapshot_id: Option<String>,
    pub is_public: bool,
    pub status: String,
    /// What it goes back to when the work that set its status has ended.
    pub previous_status: Option<String>,
    pub task_state: Option<String>,
    pub snapshot_support: bool,
    pub create_share_from_snapshot_support: bool,
    pub revert_to_snapshot_support: bool,
    pub mount_snapshot_support: bool,
    pub snapshot_inherit_share_access_support: bool,
    pub replication_type: Option<String>,
    pub mount_point_name: Option<String>,
    pub is_soft_deleted: bool,
    pub scheduled_to_be_deleted_at: Option<Micros>,
    /// The size it shall get.
    pub resize_to: Option<i64>,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
    /// What a driver knows it by.
    pub instance_id: String,
    pub access_rules_status: String,
    pub cast_rules_to_readonly: bool,
    pub availability_zone: Option<String>,
    /// `host@backend#pool`, once a pool was chosen.
    pub host: Option<String>,
    pub share_server_id: Option<String>,
    pub progress: Option<String>,
    pub backed: bool,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub instance_created_at: Micros,
    pub instance_updated_at: Option<Micros>,
}

impl ShareRow {
    /// `host@backend`, once a pool was chosen.
    pub fn backend(&self) -> Option<&str> {
        self.host.as_deref().map(backend_of)
    }

    /// The pool's own name; empty before one was chosen.
    pub fn pool(&self) -> &str {
        self.host.as_deref().map_or("", pool_of)
    }
}

pub(super) const SELECT: &str = "SELECT s.id, s.project_id, s.user_id, s.name, s.description, s.size_gib, s.share_proto, s.share_type_id, t.name AS type_name, \
     s.share_network_id, s.snapshot_id, s.is_public, s.status, s.previous_status, s.task_state, s.snapshot_support, s.create_share_from_snapshot_support, \
     s.revert_to_snapshot_support, s.mount_snapshot_support, s.snapshot_inherit_share_access_support, s.replication_type, s.mount_point_name, \
     s.is_soft_deleted, s.scheduled_to_be_deleted_at, s.resize_to, s.created_at, s.updated_at, i.id AS instance_id, i.access_rules_status, \
     i.cast_rules_to_readonly, i.availability_zone, i.host, i.share_server_id, i.progress, i.backed, i.provider_id, i.provider_data, \
     i.created_at AS instance_created_at, i.updated_at AS instance_updated_at \
     FROM shares s JOIN share_types t ON t.id = s.share_type_id JOIN share_instances i ON i.share_id = s.id";

/// A share to be inserted with its instance, which has no host yet.
#[derive(Debug, Clone)]
pub struct NewShare {
    pub id: String,
    pub instance_id: String,
    pub project_id: String,
    pub user_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub size_gib: i64,
    pub share_proto: String,
    pub share_type_id: String,
    pub share_network_id: Option<String>,
    pub snapshot_id: Option<String>,
    pub is_public: bool,
    /// `creating`, or `creating_from_snapshot`.
    pub status: ShareStatus,
    pub attributes: Attributes,
    pub mount_point_name: Option<String>,
    /// The zone asked for; its back end's once it has one.
    pub availability_zone: Option<String>,
    pub created_at: Micros,
}

impl Store {
    /// One share.
    pub async fn share(&self, id: &str) -> StoreResult<Option<ShareRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE s.id = $1"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(id).fetch_optional(p).await?))
    }

    /// The share of an instance.
    pub async fn share_of_instance(&self, instance_id: &str) -> StoreResult<Option<ShareRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE i.id = $1"));
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(instance_id).fetch_optional(p).await?))
    }

    /// How many snapshots a share has.
    pub async fn share_snapshot_count(&self, share_id: &str) -> StoreResult<i64> {
        let sql = "SELECT COUNT(*) FROM share_snapshots WHERE share_id = $1";
        let (n,): (i64,) = on_read!(self, p => sqlx::query_as(sql).bind(share_id).fetch_one(p).await?);
        Ok(n)
    }
}

impl Tx {
    pub async fn share(&mut self, id: &str) -> StoreResult<Option<ShareRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE s.id = $1"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(id).fetch_optional(c).await?))
    }

    /// As [`Tx::share`], and holds the share until the transaction ends, so that what is decided from its rules and
    /// snapshots stays true.
    pub async fn share_locked(&mut self, id: &str) -> StoreResult<Option<ShareRow>> {
        let sql = "UPDATE shares SET status = status WHERE id = $1";
        let found = on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        if found == 0 { Ok(None) } else { self.share(id).await }
    }

    /// How many snapshots a share has, whose row the caller holds.
    pub async fn share_snapshot_count(&mut self, share_id: &str) -> StoreResult<i64> {
        let sql = "SELECT COUNT(*) FROM share_snapshots WHERE share_id = $1";
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(share_id).fetch_one(c).await?);
        Ok(n)
    }

    pub async fn share_insert(&mut self, s: &NewShare) -> StoreResult<()> {
        let sql = "INSERT INTO shares (id, project_id, user_id, name, description, size_gib, share_proto, share_type_id, share_network_id, snapshot_id, \
                   is_public, status, snapshot_support, create_share_from_snapshot_support, revert_to_snapshot_support, mount_snapshot_support, \
                   snapshot_inherit_share_access_support, replication_type, mount_point_name, is_soft_deleted, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, FALSE, $20)";
        let a = &s.attributes;
        on_tx!(self, c => sqlx::query(sql).bind(&s.id).bind(&s.project_id).bind(&s.user_id).bind(&s.name).bind(&s.description).bind(s.size_gib)
            .bind(&s.share_proto).bind(&s.share_type_id).bind(&s.share_network_id).bind(&s.snapshot_id).bind(s.is_public).bind(s.status.as_str())
            .bind(a.snapshot_support).bind(a.create_share_from_snapshot_support).bind(a.revert_to_snapshot_support).bind(a.mount_snapshot_support)
            .bind(a.snapshot_inherit_share_access_support).bind(&a.replication_type).bind(&s.mount_point_name).bind(s.created_at)
            .execute(c).await?.rows_affected());
        let sql = "INSERT INTO share_instances (id, share_id, status, access_rules_status, cast_rules_to_readonly, availability_zone, backed, created_at) \
                   VALUES ($1, $2, $3, $4, FALSE, $5, FALSE, $6)";
        on_tx!(self, c => sqlx::query(sql).bind(&s.instance_id).bind(&s.id).bind(s.status.as_str()).bind(RulesStatus::Active.as_str())
            .bind(&s.availability_zone).bind(s.created_at).execute(c).await?.rows_affected());
        Ok(())
    }

    /// `from` -> `to`, share and instance together; false when the share is in none of `from` (or is gone).
    pub async fn share_status(&mut self, id: &str, from: &[ShareStatus], to: ShareStatus, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE shares SET status = ");
        sql.bind(to.as_str()).push(", updated_at = ").bind(now);
        self.share_change(sql, id, from, to, now).await
    }

    /// The condition of a change that `sql` begins, and the same for the instance.
    pub(super) async fn share_change(
        &mut self,
        mut sql: Sql,
        id: &str,
        from: &[ShareStatus],
        to: ShareStatus,
        now: Micros,
    ) -> StoreResult<bool> {
        sql.push(" WHERE id = ").bind(id).push(" AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        if !self.run(sql).await? {
            return Ok(false);
        }
        self.instance_status(id, to, now).await
    }

    /// Whatever an operator says it is.
    pub async fn share_tell(&mut self, id: &str, status: ShareStatus, now: Micros) -> StoreResult<bool> {
        self.share_status(id, ShareStatus::ALL, status, now).await
    }

    pub(super) async fn instance_status(&mut self, share_id: &str, status: ShareStatus, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE share_instances SET status = $2, updated_at = $3 WHERE share_id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(share_id).bind(status.as_str()).bind(now).execute(c).await?.rows_affected()) > 0)
    }

    /// The placement: a share that is being created gets its pool and that pool's zone, or another one.
    pub async fn share_placed(&mut self, id: &str, host: &str, zone: &str, now: Micros) -> StoreResult<bool> {
        let server = self.share_server_of(id).await?;
        let backend = backend_of(host);
        let mut sql = Sql::new("UPDATE share_instances SET host = ");
        sql.bind(host).push(", backend = ").bind(backend).push(", availability_zone = ").bind(zone);
        sql.push(", backed = TRUE, share_server_id = NULL, updated_at = ").bind(now);
        sql.push(" WHERE share_id = ").bind(id).push(" AND status IN ").bind_list(CREATING.iter().map(|s| s.as_str()));
        let placed = self.run(sql).await?;
        self.share_server_left(server.as_deref(), now).await?;
        Ok(placed)
    }

    /// creating -> available, with what the back end said beside its locations.
    pub async fn share_created(
        &mut self,
        id: &str,
        provider_id: Option<&str>,
        provider_data: Option<&str>,
        now: Micros,
    ) -> StoreResult<bool> {
        if !self.share_status(id, CREATING, ShareStatus::Available, now).await? {
            return Ok(false);
        }
        let sql = "UPDATE share_instances SET provider_id = $2, provider_data = $3, progress = '100%' WHERE share_id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(provider_id).bind(provider_data).execute(c).await?.rows_affected());
        Ok(true)
    }

    /// creating -> error, without a host: nothing of it is anywhere, but for what a clean-up job removes.
    pub async fn share_create_failed(&mut self, id: &str, now: Micros) -> StoreResult<bool> {
        if !self.share_status(id, CREATING, ShareStatus::Error, now).await? {
            return Ok(false);
        }
        let server = self.share_server_of(id).await?;
        let sql = "UPDATE share_instances SET host = NULL, backend = NULL, share_server_id = NULL, backed = FALSE WHERE share_id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        self.share_server_left(server.as_deref(), now).await?;
        Ok(true)
    }

    /// -> deleting from one of `from`.
    pub async fn share_begin_delete(&mut self, id: &str, from: &[ShareStatus], now: Micros) -> StoreResult<bool> {
        self.share_status(id, from, ShareStatus::Deleting, now).await
    }

    /// The share goes with its instance, rules, locks, locations and metadata, provided it is in one of `from`.
    pub async fn share_remove(&mut self, id: &str, from: &[ShareStatus]) -> StoreResult<bool> {
        // before the share and its rules: whoever decides about a server goes from it to them
        let server = self.share_server_of(id).await?;
        if let Some(server) = &server {
            self.share_server_locked(server).await?;
        }
        let mut sql = Sql::new("UPDATE shares SET status = status WHERE id = ");
        sql.bind(id).push(" AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        if !self.run(sql).await? {
            return Ok(false);
        }
        for sql in [
            "DELETE FROM resource_locks WHERE resource_id IN (SELECT id FROM share_access_rules WHERE share_id = $1)",
            "DELETE FROM resource_locks WHERE resource_id = $1",
            "DELETE FROM share_access_rules WHERE share_id = $1",
            "DELETE FROM share_instances WHERE share_id = $1",
            "DELETE FROM shares WHERE id = $1",
        ] {
            on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        }
        self.share_server_left(server.as_deref(), clock::now()).await?;
        Ok(true)
    }

    /// Name, description and whether everybody may see it; none leaves a column as it is.
    pub async fn share_describe(
        &mut self,
        id: &str,
        name: Option<Option<&str>>,
        description: Option<Option<&str>>,
        is_public: Option<bool>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE shares SET updated_at = ");
        sql.bind(now);
        if let Some(name) = name {
            sql.push(", name = ").bind(Value::Text(name.map(str::to_owned)));
        }
        if let Some(description) = description {
            sql.push(", description = ").bind(Value::Text(description.map(str::to_owned)));
        }
        if let Some(public) = is_public {
            sql.push(", is_public = ").bind(public);
        }
        sql.push(" WHERE id = ").bind(id);
        self.run(sql).await
    }

    /// `reset_task_state`.
    pub async fn share_task_state(&mut self, id: &str, state: Option<&str>, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE shares SET task_state = $2, updated_at = $3 WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(state).bind(now).execute(c).await?.rows_affected()) == 1)
    }
}
