//! Changes of a volume that take a while: extend, retype, revert.
//!
//! What is under way stands in columns of its own (`extend_to`, `retype_to`), which the quota counts and which the job
//! that ends it names. So an end is exact also when somebody gave the volume another status meanwhile. When the status
//! goes back to one that attachments decide, it is made of the attachments that are there now.

use crate::{
    clock::Micros,
    domain::volume::{AttachStatus, FOLLOWS_ATTACHMENTS, IDLE_MIGRATIONS, VolumeStatus},
    store::{
        StoreResult, Tx,
        bind::{Sql, Value},
        on_tx,
        sql::replication::IN_PLACE,
    },
};

/// What the driver said to be stored with a volume. None leaves a column as it is.
#[derive(Debug, Clone, Default)]
pub struct ProviderUpdate {
    pub provider_id: Option<String>,
    pub provider_data: Option<String>,
}

impl Tx {
    /// -> extending, remembering where it came from.
    pub async fn volume_begin_extend(&mut self, id: &str, from: &[VolumeStatus], to_gib: i64, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET previous_status = status, status = 'extending', extend_to = ");
        sql.bind(to_gib);
        self.begin_work(sql, id, from, now).await
    }

    /// -> retyping, remembering where it came from.
    pub async fn volume_begin_retype(&mut self, id: &str, from: &[VolumeStatus], type_id: &str, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET previous_status = status, status = 'retyping', retype_to = ");
        sql.bind(type_id);
        self.begin_work(sql, id, from, now).await
    }

    async fn begin_work(&mut self, mut sql: Sql, id: &str, from: &[VolumeStatus], now: Micros) -> StoreResult<bool> {
        sql.push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id).push(" AND extend_to IS NULL AND retype_to IS NULL");
        sql.push(" AND migration_job IS NULL AND (migration_status IS NULL OR migration_status IN ")
            .bind_list(IDLE_MIGRATIONS.iter().copied());
        sql.push(") AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        self.volume_execute(sql).await
    }

    /// The extend to `to_gib` has ended: well (the size is the new one) or not. A volume that still shows `extending`
    /// goes to `status`, or without one back to where it came from. False: no such extend is under way.
    pub async fn volume_end_extend(
        &mut self,
        id: &str,
        to_gib: i64,
        done: Option<&ProviderUpdate>,
        status: Option<VolumeStatus>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET ");
        if let Some(update) = done {
            sql.push("size_gib = extend_to, ");
            push_update(&mut sql, update);
        }
        sql.push("extend_to = NULL, ");
        push_end(&mut sql, VolumeStatus::Extending, status);
        sql.push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id).push(" AND extend_to = ").bind(to_gib);
        Ok(self.volume_execute(sql).await? && self.follow_after_work(id, now).await?)
    }

    /// The retype to `type_id` has ended: well (with that type, and multi-attach or not) or not.
    pub async fn volume_end_retype(
        &mut self,
        id: &str,
        type_id: &str,
        done: Option<bool>,
        update: &ProviderUpdate,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET ");
        if let Some(multiattach) = done {
            sql.push("volume_type_id = retype_to, replication_status = ")
                .push(IN_PLACE)
                .push(", multiattach = ")
                .bind(multiattach)
                .push(", ");
        }
        push_update(&mut sql, update);
        sql.push("retype_to = NULL, ");
        push_end(&mut sql, VolumeStatus::Retyping, None);
        sql.push(", updated_at = ").bind(now).push(" WHERE id = ").bind(id).push(" AND retype_to = ").bind(type_id);
        Ok(self.volume_execute(sql).await? && self.follow_after_work(id, now).await?)
    }

    /// A volume at rest shows what its attachments, which may have gone meanwhile, make of it.
    pub(super) async fn follow_after_work(&mut self, id: &str, now: Micros) -> StoreResult<bool> {
        if let Some(row) = self.volume(id).await?
            && VolumeStatus::parse(&row.status).is_some_and(|s| FOLLOWS_ATTACHMENTS.contains(&s))
        {
            self.volume_follow_attachments(id, now).await?;
        }
        Ok(true)
    }

    /// `os-set_bootable`.
    pub async fn volume_bootable(&mut self, id: &str, bootable: bool, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE volumes SET bootable = $2, updated_at = $3 WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(bootable).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// `os-update_readonly_flag`.
    pub async fn volume_readonly(&mut self, id: &str, readonly: bool, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE volumes SET readonly = $2, updated_at = $3 WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(readonly).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// Whatever an operator says it is. The inner option of `migration` is null.
    pub async fn volume_tell(
        &mut self,
        id: &str,
        status: Option<VolumeStatus>,
        attach: Option<AttachStatus>,
        migration: Option<Option<&str>>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE volumes SET updated_at = ");
        sql.bind(now);
        if let Some(status) = status {
            sql.push(", status = ").bind(status.as_str());
        }
        if let Some(attach) = attach {
            sql.push(", attach_status = ").bind(attach.as_str());
        }
        if let Some(migration) = migration {
            sql.push(", migration_status = ").bind(Value::Text(migration.map(str::to_owned)));
        }
        sql.push(" WHERE id = ").bind(id);
        self.volume_execute(sql).await
    }

    /// A growth that may or may not have happened is given up: the volume no longer counts with it, and the room comes
    /// back with a report whose call begins from now on.
    pub async fn forget_growth(&mut self, volume_id: &str) -> StoreResult<()> {
        self.hold_places_of(volume_id).await?;
        let sql = self.dialect().sql(
            "UPDATE capacity_claims SET settled_at = {now}, freed = TRUE WHERE resource_id = $1 AND operation = 'extend' AND settled_at IS NULL \
             RETURNING pool, gib",
        );
        let growth: Option<(String, i64)> = on_tx!(self, c => sqlx::query_as(sql).bind(volume_id).fetch_optional(c).await?);
        let Some((pool, gib)) = growth else { return Ok(()) };
        let sql = "UPDATE pool_allocations SET gib = gib - $3 WHERE resource_id = $1 AND pool = $2";
        let held = on_tx!(self, c => sqlx::query(sql).bind(volume_id).bind(&pool).bind(gib).execute(c).await?.rows_affected());
        if held == 1 {
            let sql = "UPDATE pools SET allocated_gib = allocated_gib - $2 WHERE name = $1";
            on_tx!(self, c => sqlx::query(sql).bind(&pool).bind(gib).execute(c).await?.rows_affected());
        }
        Ok(())
    }
}

fn push_update(sql: &mut Sql, update: &ProviderUpdate) {
    for (column, value) in [("provider_id", &update.provider_id), ("provider_data", &update.provider_data)] {
        if let Some(value) = value {
            sql.push(column).push(" = ").bind(value.as_str()).push(", ");
        }
    }
}

/// The status at the end of `working`: `status`, else where the volume came from; another that it was given stays.
fn push_end(sql: &mut Sql, working: VolumeStatus, status: Option<VolumeStatus>) {
    sql.push("previous_status = NULL, status = CASE WHEN status = ").bind(working.as_str()).push(" THEN ");
    match status {
        Some(status) => sql.bind(status.as_str()),
        None => sql.push("COALESCE(previous_status, 'available')"),
    };
    sql.push(" ELSE status END");
}
