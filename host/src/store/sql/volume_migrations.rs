//! A volume's move to another pool, from the first word to the swap.
//!
//! The move belongs to one job (`migration_job`) for as long as `migration_status` is one of its words. Whoever wants the
//! volume more (an attachment, an operator's reset) changes that word, and every further write of the job then matches no row.

use crate::{
    clock::Micros,
    domain::{
        host::backend_of,
        volume::{IDLE_MIGRATIONS, MIGRATION_ACTIVE, VolumeStatus},
    },
    store::{
        StoreResult, Tx,
        bind::{Sql, Value},
        sql::{
            replication::{OF_NEW_TYPE, OF_TYPE},
            volumes::BackendIdentity,
        },
    },
};

/// Where the volume lies from now on, and what it is there.
#[derive(Debug, Clone)]
pub struct Moved {
    /// `host@backend#pool`.
    pub host: String,
    pub name_id: String,
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
    pub identity: BackendIdentity,
    /// It gets the type it was to get; whether that is multi-attach.
    pub retyped: Option<bool>,
}

impl Tx {
    /// The move begins, of a volume in one of `from` that nobody is attached to and that has no snapshots. With `lock` its
    /// users see it in maintenance.
    pub async fn volume_begin_migration(
        &mut self,
        id: &str,
        from: &[VolumeStatus],
        job: &str,
        lock: bool,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET migration_status = 'starting', migration_job = ");
        sql.bind(job);
        if lock {
            sql.push(", previous_status = status, status = 'maintenance'");
        }
        sql.push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id);
        sql.push(" AND (migration_status IS NULL OR migration_status IN ").bind_list(IDLE_MIGRATIONS.iter().copied());
        sql.push(") AND migration_job IS NULL AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        // a retype that goes on as a move is under way already
        sql.push(" AND extend_to IS NULL AND (retype_to IS NULL OR status = 'retyping')");
        sql.push(" AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.volume_id = volumes.id)");
        sql.push(" AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.volume_id = volumes.id)");
        self.volume_execute(sql).await
    }

    /// How far it is. False: the job does not have it any more.
    pub async fn volume_migrates(&mut self, id: &str, job: &str, word: &'static str, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET migration_status = ");
        sql.bind(word).push(", updated_at = ").bind(now);
        push_mine(&mut sql, id, job);
        self.volume_execute(sql).await
    }

    /// The swap: from now on the volume is what `moved` says. False: the job does not have it any more, or somebody is attached.
    pub async fn volume_moved(&mut self, id: &str, job: &str, moved: &Moved, now: Micros) -> StoreResult<bool> {
        let text = |t: &Option<String>| Value::Text(t.clone());
        let backend = backend_of(&moved.host);
        let identity = &moved.identity;
        let shared = match identity.shared_targets {
            None => "NULL",
            Some(true) => "TRUE",
            Some(false) => "FALSE",
        };
        let mut sql = Sql::new("UPDATE volumes SET host = ");
        sql.bind(moved.host.as_str()).push(", backend = ").bind(backend);
        sql.push(", name_id = ").bind(moved.name_id.as_str());
        sql.push(", provider_id = ").bind(text(&moved.provider_id)).push(", provider_data = ").bind(text(&moved.provider_data));
        sql.push(", shared_targets = ").push(shared).push(", service_uuid = ").bind(identity.service_uuid.as_str());
        sql.push(", backend_name = ").bind(identity.backend_name.as_str());
        if let Some(multiattach) = moved.retyped {
            sql.push(", volume_type_id = retype_to, replication_status = ").push(OF_NEW_TYPE).push(", multiattach = ").bind(multiattach);
        } else {
            sql.push(", replication_status = ").push(OF_TYPE);
        }
        sql.push(", retype_to = NULL, migration_job = NULL, migration_status = 'success'");
        push_end(&mut sql);
        sql.push(", updated_at = ").bind(now);
        push_mine(&mut sql, id, job);
        sql.push(" AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.volume_id = volumes.id)");
        sql.push(" AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.volume_id = volumes.id)");
        if moved.retyped.is_some() {
            sql.push(" AND retype_to IS NOT NULL");
        }
        Ok(self.volume_execute(sql).await? && self.follow_after_work(id, now).await?)
    }

    /// The move has come to nothing: the volume is where and what it was. False: it is not this job's.
    pub async fn volume_stays(&mut self, id: &str, job: &str, now: Micros) -> StoreResult<bool> {
        let mut sql =
            Sql::new("UPDATE volumes SET retype_to = NULL, migration_job = NULL, migration_status = CASE WHEN migration_status IN ");
        sql.bind_list(MIGRATION_ACTIVE.iter().copied()).push(" THEN 'error' ELSE migration_status END");
        push_end(&mut sql);
        sql.push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id).push(" AND migration_job = ").bind(job);
        Ok(self.volume_execute(sql).await? && self.follow_after_work(id, now).await?)
    }
}

fn push_mine(sql: &mut Sql, id: &str, job: &str) {
    sql.push(" WHERE id = ").bind(id).push(" AND migration_job = ").bind(job);
    sql.push(" AND migration_status IN ").bind_list(MIGRATION_ACTIVE.iter().copied());
}

/// The status goes back to what it was; another that it was given meanwhile stays.
fn push_end(sql: &mut Sql) {
    sql.push(
        ", status = CASE WHEN status = 'retyping' THEN COALESCE(previous_status, 'available') \
         WHEN status = 'maintenance' THEN COALESCE(previous_status, status) ELSE status END, previous_status = NULL",
    );
}
