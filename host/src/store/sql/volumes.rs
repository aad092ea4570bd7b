//! Volumes: the row, its conditional changes.
//!
//! Every change of `status` names the states it may start from and says whether it happened. Rows of deleted volumes are
//! deleted; the transaction that does so writes the tombstone.

use crate::{
    clock::Micros,
    domain::{
        host::backend_of,
        volume::{AttachStatus, DELETE_FROM, FOLLOWS_ATTACHMENTS, IDLE_MIGRATIONS, MIGRATION_ACTIVE, VolumeStatus},
    },
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value},
        on_read, on_tx,
        sql::replication::OF_TYPE,
    },
};

/// A volume as it stands in the database, with its type's name.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct VolumeRow {
    pub id: String,
    pub project_id: String,
    pub user_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub size_gib: i64,
    pub status: String,
    pub attach_status: String,
    pub migration_status: Option<String>,
    pub volume_type_id: String,
    pub type_name: String,
    pub availability_zone: String,
    pub host: Option<String>,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub bootable: bool,
    pub multiattach: bool,
    pub shared_targets: Option<bool>,
    pub service_uuid: Option<String>,
    pub backend_name: Option<String>,
    pub consumes_quota: bool,
    /// What it was copied from; that may be gone by now.
    pub snapshot_id: Option<String>,
    pub source_volid: Option<String>,
    /// What it goes back to when an extend or a retype has ended.
    pub previous_status: Option<String>,
    /// The size and the type it shall get; its project's quota counts them already.
    pub extend_to: Option<i64>,
    pub retype_to: Option<String>,
    /// Attachments may only read. None: nobody ever said.
    pub readonly: Option<bool>,
    /// What drivers call it since it moved; none: its id.
    pub name_id: Option<String>,
    /// The job that moves it.
    pub migration_job: Option<String>,
    /// None: its type asks for none.
    pub replication_status: Option<String>,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

impl VolumeRow {
    /// `host@backend`, once a pool was chosen.
    pub fn backend(&self) -> Option<&str> {
        self.host.as_deref().map(backend_of)
    }

    /// What drivers call it.
    pub fn driver_id(&self) -> &str {
        self.name_id.as_deref().unwrap_or(&self.id)
    }

    /// It is on its way to another pool, or was a moment ago and the job that moved it has not ended yet.
    pub fn is_moving(&self) -> bool {
        self.migration_job.is_some() || self.migration_status.as_deref().is_some_and(|m| !IDLE_MIGRATIONS.contains(&m))
    }

    /// An extend or a retype is under way, whatever status somebody gave the volume meanwhile.
    pub fn being_changed(&self) -> bool {
        self.extend_to.is_some() || self.retype_to.is_some()
    }
}

pub(super) const SELECT: &str = "SELECT v.id, v.project_id, v.user_id, v.name, v.description, v.size_gib, v.status, v.attach_status, v.migration_status, \
     v.volume_type_id, t.name AS type_name, v.availability_zone, v.host, v.provider_id, v.provider_data, v.bootable, v.multiattach, v.shared_targets, \
     v.service_uuid, v.backend_name, v.consumes_quota, v.snapshot_id, v.source_volid, v.previous_status, v.extend_to, v.retype_to, v.readonly, v.name_id, v.migration_job, v.replication_status, v.created_at, v.updated_at FROM volumes v JOIN volume_types t ON t.id = v.volume_type_id";

/// A volume to be inserted; it starts as `creating` and has no host.
#[derive(Debug, Clone)]
pub struct NewVolume {
    pub id: String,
    pub project_id: String,
    pub user_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub size_gib: i64,
    pub volume_type_id: String,
    pub availability_zone: String,
    pub multiattach: bool,
    pub bootable: bool,
    /// What it is to be copied from, if it is not made empty.
    pub snapshot_id: Option<String>,
    pub source_volid: Option<String>,
    pub created_at: Micros,
}

/// What a back end says about every volume on it (C1, C3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendIdentity {
    pub shared_targets: Option<bool>,
    pub service_uuid: String,
    pub backend_name: String,
}

/// What a successful create writes.
#[derive(Debug, Clone)]
pub struct CreatedVolume {
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub identity: BackendIdentity,
}

impl Store {
    /// One volume.
    pub async fn volume(&self, id: &str) -> StoreResult<Option<VolumeRow>> {
        let sql = format!("{SELECT} WHERE v.id = $1");
        Ok(on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(p).await?))
    }
}

impl Tx {
    pub async fn volume(&mut self, id: &str) -> StoreResult<Option<VolumeRow>> {
        let sql = format!("{SELECT} WHERE v.id = $1");
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(c).await?))
    }

    /// As [`Tx::volume`], and on PostgreSQL holds the row until the transaction ends (SQLite has one writer anyway), so
    /// that what is decided from the volume's attachments stays true.
    pub async fn volume_locked(&mut self, id: &str) -> StoreResult<Option<VolumeRow>> {
        let sql = "UPDATE volumes SET status = status WHERE id = $1";
        let found = on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        if found == 0 { Ok(None) } else { self.volume(id).await }
    }

    pub async fn volume_insert(&mut self, v: &NewVolume) -> StoreResult<()> {
        let sql = "INSERT INTO volumes (id, project_id, user_id, name, description, size_gib, status, attach_status, volume_type_id, availability_zone, \
                   bootable, multiattach, shared_targets, consumes_quota, created_at, snapshot_id, source_volid, copying) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $13, $11, TRUE, TRUE, $12, $14, $15, $16)";
        on_tx!(self, c => sqlx::query(sql).bind(&v.id).bind(&v.project_id).bind(&v.user_id).bind(&v.name).bind(&v.description).bind(v.size_gib)
            .bind(VolumeStatus::Creating.as_str()).bind(AttachStatus::Detached.as_str()).bind(&v.volume_type_id).bind(&v.availability_zone)
            .bind(v.multiattach).bind(v.created_at).bind(v.bootable).bind(&v.snapshot_id).bind(&v.source_volid)
            .bind(v.snapshot_id.is_some() || v.source_volid.is_some()).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Its create has ended, in whatever way: its source may go.
    pub async fn volume_copied(&mut self, id: &str) -> StoreResult<()> {
        let sql = "UPDATE volumes SET copying = FALSE WHERE id = $1 AND copying";
        on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// `from` -> `to`; false when the volume is in none of `from` (or is gone).
    pub async fn volume_status(&mut self, id: &str, from: &[VolumeStatus], to: VolumeStatus, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET status = ");
        sql.bind(to.as_str())
            .push(", updated_at = ")
            .bind(now)
            .push(" WHERE id = ")
            .bind(id)
            .push(" AND status IN ")
            .bind_list(words(from));
        self.volume_execute(sql).await
    }

    /// The placement: a volume that is being created gets its pool, or another one.
    pub async fn volume_placed(&mut self, id: &str, host: &str, now: Micros) -> StoreResult<bool> {
        let backend = backend_of(host);
        let mut sql = Sql::new("UPDATE volumes SET host = ");
        sql.bind(host)
            .push(", backend = ")
            .bind(backend)
            .push(", updated_at = ")
            .bind(now)
            .push(" WHERE id = ")
            .bind(id)
            .push(" AND status = 'creating'");
        self.volume_execute(sql).await
    }

    /// creating -> available, with what the back end said.
    pub async fn volume_created(&mut self, id: &str, done: &CreatedVolume, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE volumes SET status = 'available', replication_status = {of_type}, provider_id = $2, provider_data = $3, shared_targets = $4, service_uuid = $5, backend_name = $6, \
                   updated_at = $7 WHERE id = $1 AND status = 'creating'"
            .replace("{of_type}", OF_TYPE);
        let i = &done.identity;
        Ok(
            on_tx!(self, c => sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id).bind(&done.provider_id).bind(&done.provider_data).bind(i.shared_targets).bind(&i.service_uuid)
            .bind(&i.backend_name).bind(now).execute(c).await?.rows_affected())
                == 1,
        )
    }

    /// creating -> error. `keep_host` says whether something may exist on the chosen pool.
    pub async fn volume_create_failed(&mut self, id: &str, keep_host: bool, now: Micros) -> StoreResult<bool> {
        let sql = if keep_host {
            "UPDATE volumes SET status = 'error', updated_at = $2 WHERE id = $1 AND status = 'creating'"
        } else {
            "UPDATE volumes SET status = 'error', host = NULL, backend = NULL, updated_at = $2 WHERE id = $1 AND status = 'creating'"
        };
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// -> deleting, only from rest (unless `force`), without attachments and without a running migration.
    pub async fn volume_begin_delete(&mut self, id: &str, force: bool, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET status = 'deleting', updated_at = ");
        sql.bind(now).push(" WHERE id = ").bind(id).push(" AND status <> 'deleting'");
        if !force {
            sql.push(" AND status IN ").bind_list(words(DELETE_FROM));
        }
        sql.push(" AND attach_status <> 'attached' AND migration_job IS NULL AND (migration_status IS NULL OR migration_status IN ")
            .bind_list(IDLE_MIGRATIONS.iter().copied());
        sql.push(") AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.volume_id = volumes.id)");
        self.volume_execute(sql).await
    }

    /// The row goes, with its metadata, provided it is in one of `from`.
    pub async fn volume_remove(&mut self, id: &str, from: &[VolumeStatus]) -> StoreResult<bool> {
        let mut sql = Sql::new("DELETE FROM volumes WHERE id = ");
        sql.bind(id).push(" AND status IN ").bind_list(words(from));
        self.volume_execute(sql).await
    }

    /// A volume without a host that is not being created has nothing behind it and may go at once; false if it is not so.
    pub async fn volume_remove_unplaced(&mut self, id: &str) -> StoreResult<bool> {
        let mut sql = Sql::new("DELETE FROM volumes WHERE id = ");
        sql.bind(id).push(" AND host IS NULL AND status IN ").bind_list(words(DELETE_FROM));
        sql.push(" AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.volume_id = volumes.id)");
        self.volume_execute(sql).await
    }

    /// Name and description; none leaves a column as it is.
    pub async fn volume_describe(
        &mut self,
        id: &str,
        name: Option<Option<&str>>,
        description: Option<Option<&str>>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET updated_at = ");
        sql.bind(now);
        if let Some(name) = name {
            sql.push(", name = ").bind(Value::Text(name.map(str::to_owned)));
        }
        if let Some(description) = description {
            sql.push(", description = ").bind(Value::Text(description.map(str::to_owned)));
        }
        sql.push(" WHERE id = ").bind(id);
        self.volume_execute(sql).await
    }

    /// Claims the volume for one more attachment: -> reserved from `from`, and only while `multiattach` is what the decision
    /// was made with. A volume that others hold keeps showing what they made of it.
    pub async fn volume_reserve(&mut self, id: &str, from: &[VolumeStatus], multiattach: bool, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new(
            "UPDATE volumes SET status = CASE WHEN status IN ('available', 'downloading') THEN 'reserved' ELSE status END, attach_status = ",
        );
        // who attaches it wants it more than the move does, which then gives up
        sql.push("CASE WHEN status IN ('available', 'downloading') THEN 'reserved' ELSE attach_status END, migration_status = CASE WHEN migration_status IN ");
        sql.bind_list(MIGRATION_ACTIVE.iter().copied()).push(" THEN 'error' ELSE migration_status END, updated_at = ").bind(now);
        sql.push(" WHERE id = ").bind(id).push(" AND multiattach = ").bind(multiattach).push(" AND status IN ").bind_list(words(from));
        self.volume_execute(sql).await
    }

    /// The volume shows what its attachments make of it. A status that an upload or a migration owns is left alone.
    pub async fn volume_follow(&mut self, id: &str, status: VolumeStatus, attach: AttachStatus, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET attach_status = ");
        sql.bind(attach.as_str())
            .push(", updated_at = ")
            .bind(now)
            .push(", status = CASE WHEN status IN ")
            .bind_list(words(FOLLOWS_ATTACHMENTS));
        sql.push(" THEN ").bind(status.as_str()).push(" ELSE status END WHERE id = ").bind(id);
        self.volume_execute(sql).await
    }

    /// Volumes whose `shared_targets`, `service_uuid` or `backend_name` differ from what their back end says, at most `limit` of them.
    pub async fn volumes_that_differ(&mut self, backend: &str, identity: &BackendIdentity, limit: i64) -> StoreResult<Vec<String>> {
        let sql = "SELECT id FROM volumes WHERE backend = $1 AND (shared_targets IS DISTINCT FROM $2 OR \
                   service_uuid IS DISTINCT FROM $3 OR backend_name IS DISTINCT FROM $4) AND status <> 'creating' LIMIT $5";
        let rows: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(backend).bind(identity.shared_targets).bind(&identity.service_uuid).bind(&identity.backend_name).bind(limit).fetch_all(c).await?);
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    /// `shared_targets` and the two identifiers follow the back end, whose row the caller keeps ([`Tx::backend_kept`]): no
    /// older identity is written over a newer one.
    pub async fn volume_identity(&mut self, id: &str, identity: &BackendIdentity) -> StoreResult<bool> {
        let sql = "UPDATE volumes SET shared_targets = $2, service_uuid = $3, backend_name = $4 WHERE id = $1 AND host IS NOT NULL";
        Ok(
            on_tx!(self, c => sqlx::query(sql).bind(id).bind(identity.shared_targets).bind(&identity.service_uuid).bind(&identity.backend_name)
            .execute(c).await?.rows_affected())
                == 1,
        )
    }

    pub(super) async fn volume_execute(&mut self, sql: Sql) -> StoreResult<bool> {
        self.run(sql).await
    }
}

fn words(states: &[VolumeStatus]) -> impl Iterator<Item = &'static str> + '_ {
    states.iter().map(|s| s.as_str())
}
