//! Attachments: who may reach which volume, and how.
//!
//! `work` and `job_id` say that a job is connecting or disconnecting it; whoever asks for the same again joins that job.

use crate::{
    clock::Micros,
    domain::{
        attachment::{AttachmentStatus, OlderAction, counts_as, volume_follows},
        text_enum,
    },
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value, push_contains},
        keyset::{ListKey, ListQuery},
        on_read, on_tx,
    },
};

/// `work` of an attachment whose connect is under way.
pub const CONNECT: &str = "connect";
/// `work` of an attachment whose disconnect is under way.
pub const DISCONNECT: &str = "disconnect";

/// `work` of an attachment whose connection is being ended while it stays.
pub const UNPLUG: &str = "unplug";

/// An attachment as it stands in the database.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct AttachmentRow {
    pub id: String,
    pub volume_id: String,
    pub project_id: String,
    pub instance_id: Option<String>,
    pub status: String,
    pub mode: String,
    pub connector: Option<String>,
    pub connector_host: Option<String>,
    pub connection_info: Option<String>,
    pub mountpoint: Option<String>,
    pub work: Option<String>,
    pub job_id: Option<String>,
    /// The connector a connect was asked with, until it has succeeded.
    pub work_connector: Option<String>,
    /// An [`OlderAction`], if it was not made as an attachment.
    pub older: Option<String>,
    /// Where `os-attach` said it is.
    pub attached_host: Option<String>,
    /// Its detach was announced.
    pub leaving: bool,
    /// Connectors of earlier connects that failed, to which the back end may still export: a JSON array.
    pub leftovers: Option<String>,
    pub attached_at: Option<Micros>,
    pub detached_at: Option<Micros>,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

impl AttachmentRow {
    /// Whether this older action made of it what it is.
    pub fn is_older(&self, action: OlderAction) -> bool {
        self.older.as_deref() == Some(action.as_str())
    }
    /// It is connected, or may be half connected, or a back end may still export to whom it was to be connected.
    pub fn may_be_connected(&self) -> bool {
        self.connection_info.is_some() || self.work_connector.is_some() || self.leftovers.is_some()
    }
}

pub(super) const SELECT: &str = "SELECT id, volume_id, project_id, instance_id, status, mode, connector, connector_host, connection_info, mountpoint, work, job_id, \
     work_connector, leftovers, older, attached_host, leaving, attached_at, detached_at, created_at, updated_at FROM attachments";

text_enum! {
    /// What attachments can be sorted by.
    pub enum AttachmentSort {
        Id = "id",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        VolumeId = "volume_id",
        InstanceId = "instance_uuid",
        Status = "attach_status",
        Mode = "attach_mode",
        ProjectId = "project_id",
    }
}

impl ListKey for AttachmentSort {
    type Row = AttachmentRow;
    const KEYS: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
    fn column(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::CreatedAt => "created_at",
            Self::UpdatedAt => "COALESCE(updated_at, 0)",
            Self::VolumeId => "volume_id",
            Self::InstanceId => "COALESCE(instance_id, '')",
            Self::Status => "status",
            Self::Mode => "mode",
            Self::ProjectId => "project_id",
        }
    }
    fn value(self, a: &AttachmentRow) -> Value {
        match self {
            Self::Id => Value::from(a.id.as_str()),
            Self::CreatedAt => Value::from(a.created_at),
            Self::UpdatedAt => Value::from(a.updated_at.unwrap_or(0)),
            Self::VolumeId => Value::from(a.volume_id.as_str()),
            Self::InstanceId => Value::from(a.instance_id.clone().unwrap_or_default()),
            Self::Status => Value::from(a.status.as_str()),
            Self::Mode => Value::from(a.mode.as_str()),
            Self::ProjectId => Value::from(a.project_id.as_str()),
        }
    }
}

/// One condition of a list. Column names come from tables of ours, never from the client.
#[derive(Debug, Clone, PartialEq)]
pub enum AttachmentFilter {
    Equals(&'static str, Value),
    /// A column of texts has this in it, letter by letter.
    Contains(&'static str, String),
    /// Nothing matches.
    Never,
}

/// A list of attachments to be read.
pub type AttachmentQuery = ListQuery<AttachmentFilter>;

/// A reservation to be inserted.
#[derive(Debug, Clone)]
pub struct NewAttachment {
    pub id: String,
    pub volume_id: String,
    pub project_id: String,
    pub instance_id: Option<String>,
    pub mode: &'static str,
    pub created_at: Micros,
}

/// What a successful connect writes.
#[derive(Debug, Clone)]
pub struct Connected {
    pub connector: String,
    pub connector_host: String,
    pub mountpoint: Option<String>,
    pub connection_info: String,
    pub mode: &'static str,
}

/// What `os-attach` says.
#[derive(Debug, Clone)]
pub struct SaidAttached {
    pub instance_id: Option<String>,
    pub host: Option<String>,
    pub mountpoint: String,
    pub mode: &'static str,
}

impl Store {
    pub async fn attachment(&self, id: &str) -> StoreResult<Option<AttachmentRow>> {
        let sql = format!("{SELECT} WHERE id = $1");
        Ok(on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(p).await?))
    }

    pub async fn attachments(&self, query: &AttachmentQuery) -> StoreResult<Vec<AttachmentRow>> {
        let mut sql = Sql::new(format!("{SELECT} WHERE TRUE"));
        for filter in &query.filters {
            match filter {
                AttachmentFilter::Equals(column, value) => sql.push(" AND ").push(column).push(" = ").bind(value.clone()),
                AttachmentFilter::Contains(column, part) => push_contains(&mut sql, "attachments", column, part),
                AttachmentFilter::Never => sql.push(" AND 1 = 0"),
            };
        }
        query.push_page(&mut sql);
        self.fetch_all(sql).await
    }

    /// Every attachment of one volume, oldest first.
    pub async fn attachments_of(&self, volume_id: &str) -> StoreResult<Vec<AttachmentRow>> {
        let sql = format!("{SELECT} WHERE volume_id = $1 ORDER BY created_at, id");
        Ok(on_read!(self, p => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(volume_id).fetch_all(p).await?))
    }
}

impl Tx {
    pub async fn attachment(&mut self, id: &str) -> StoreResult<Option<AttachmentRow>> {
        let sql = format!("{SELECT} WHERE id = $1");
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id).fetch_optional(c).await?))
    }

    pub async fn attachments_of(&mut self, volume_id: &str) -> StoreResult<Vec<AttachmentRow>> {
        let sql = format!("{SELECT} WHERE volume_id = $1 ORDER BY created_at, id");
        Ok(on_tx!(self, c => sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(volume_id).fetch_all(c).await?))
    }

    pub async fn attachment_insert(&mut self, a: &NewAttachment) -> StoreResult<()> {
        self.insert(a, AttachmentStatus::Reserved, None).await
    }

    /// What an older action makes of the volume stands as `attaching`, as ever.
    pub async fn attachment_insert_older(&mut self, a: &NewAttachment, action: OlderAction) -> StoreResult<()> {
        self.insert(a, AttachmentStatus::Attaching, Some(action.as_str())).await
    }

    async fn insert(&mut self, a: &NewAttachment, status: AttachmentStatus, older: Option<&str>) -> StoreResult<()> {
        let sql = "INSERT INTO attachments (id, volume_id, project_id, instance_id, status, mode, created_at, older) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        on_tx!(self, c => sqlx::query(sql).bind(&a.id).bind(&a.volume_id).bind(&a.project_id).bind(&a.instance_id)
            .bind(status.as_str()).bind(a.mode).bind(a.created_at).bind(older).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Hands a resting attachment to a job that connects it; false when another job has it or its status is none of `from`.
    pub async fn attachment_begin_connect(
        &mut self,
        id: &str,
        from: &[AttachmentStatus],
        job_id: &str,
        connector: &str,
        leftovers: Option<&str>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE attachments SET work = 'connect', job_id = ");
        sql.bind(job_id).push(", work_connector = ").bind(connector).push(", updated_at = ").bind(now);
        sql.push(", leftovers = ").bind(Value::Text(leftovers.map(str::to_owned)));
        sql.push(" WHERE id = ").bind(id).push(" AND work IS NULL AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        self.volume_execute(sql).await
    }

    /// -> detaching, owned by a job that disconnects it. A connect that is under way loses it: its result will not count,
    /// and the disconnect, which runs after it, takes back what it made. False when a disconnect has it already.
    pub async fn attachment_begin_disconnect(&mut self, id: &str, job_id: &str, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE attachments SET work = 'disconnect', job_id = $2, status = 'detaching', updated_at = $3 WHERE id = $1 AND (work IS NULL OR work IN ('connect', 'unplug'))";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(job_id).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// The connect that `job_id` ran has succeeded. What was already attached stays attached (a repeated connect).
    pub async fn attachment_connected(&mut self, id: &str, job_id: &str, done: &Connected, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE attachments SET status = CASE WHEN status = 'attached' THEN status ELSE 'attaching' END, connector = $3, connector_host = $4, \
                   mountpoint = COALESCE($5, mountpoint), connection_info = $6, mode = $7, work = NULL, job_id = NULL, work_connector = NULL, updated_at = $8, attached_at = COALESCE(attached_at, $8) \
                   WHERE id = $1 AND work = 'connect' AND job_id = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(job_id).bind(&done.connector).bind(&done.connector_host).bind(&done.mountpoint)
            .bind(&done.connection_info).bind(done.mode).bind(now).execute(c).await?.rows_affected())
            == 1)
    }

    /// The connection it had has ended, while `job_id` goes on to another.
    pub async fn attachment_unplugged(&mut self, id: &str, job_id: &str, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE attachments SET connector = NULL, connector_host = NULL, connection_info = NULL, mountpoint = NULL, updated_at = $3 \
                   WHERE id = $1 AND work = 'connect' AND job_id = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(job_id).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// Hands an attachment to a job that ends its connection, and no more; false when it is being taken away.
    pub async fn attachment_begin_unplug(&mut self, id: &str, job_id: &str, now: Micros) -> StoreResult<bool> {
        let sql =
            "UPDATE attachments SET work = 'unplug', job_id = $2, updated_at = $3 WHERE id = $1 AND (work IS NULL OR work = 'connect')";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(job_id).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// Its connection has ended; it is in `status`.
    pub async fn attachment_let_go(&mut self, id: &str, job_id: &str, status: &str, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE attachments SET status = $3, connector = NULL, connector_host = NULL, connection_info = NULL, work = NULL, job_id = NULL, \
                   work_connector = NULL, leftovers = NULL, updated_at = $4 WHERE id = $1 AND work = 'unplug' AND job_id = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(job_id).bind(status).bind(now).execute(c).await?.rows_affected()) == 1)
    }

    /// What is still left of failed connects, while `job_id` goes on; none for nothing.
    pub async fn attachment_leftovers(&mut self, id: &str, job_id: &str, leftovers: Option<&str>) -> StoreResult<bool> {
        let sql = "UPDATE attachments SET leftovers = $3 WHERE id = $1 AND work = 'connect' AND job_id = $2";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(job_id).bind(leftovers).execute(c).await?.rows_affected()) == 1)
    }

    /// The job gives the attachment back, in `status`. With `leftover` the back end may still export it to the connector that
    /// was asked for: a delete then tries again to take that back.
    pub async fn attachment_released(&mut self, id: &str, job_id: &str, status: &str, leftover: bool, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE attachments SET status = $3, leaving = FALSE, work = NULL, job_id = NULL, work_connector = CASE WHEN $4 THEN work_connector ELSE NULL END, \
                   updated_at = $5 WHERE id = $1 AND job_id = $2";
        Ok(
            on_tx!(self, c => sqlx::query(sql).bind(id).bind(job_id).bind(status).bind(leftover).bind(now).execute(c).await?.rows_affected())
                == 1,
        )
    }

    /// `os-complete`: from `from` to attached.
    pub async fn attachment_complete(&mut self, id: &str, from: &[AttachmentStatus], now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new(
            "UPDATE attachments SET status = 'attached', older = CASE WHEN older IS NULL THEN NULL ELSE 'attach' END, attached_at = COALESCE(attached_at, ",
        );
        sql.bind(now).push("), updated_at = ").bind(now).push(" WHERE id = ").bind(id);
        sql.push(" AND (work IS NULL OR work = 'connect') AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        self.volume_execute(sql).await
    }

    /// `os-attach`: from `from` to attached; false while it is being taken away. As what it is exported it stays, whatever is
    /// said.
    pub async fn attachment_attach(&mut self, id: &str, from: &[AttachmentStatus], said: &SaidAttached, now: Micros) -> StoreResult<bool> {
        let mut sql = Sql::new(
            "UPDATE attachments SET status = 'attached', older = CASE WHEN older IS NULL THEN NULL ELSE 'attach' END, leaving = FALSE, attached_host = ",
        );
        sql.bind(Value::Text(said.host.clone())).push(", mountpoint = ").bind(said.mountpoint.as_str());
        if let Some(instance_id) = &said.instance_id {
            sql.push(", instance_id = ").bind(instance_id.as_str());
        }
        sql.push(", mode = CASE WHEN connection_info IS NULL THEN ")
            .bind(said.mode)
            .push(" ELSE mode END, attached_at = COALESCE(attached_at, ");
        sql.bind(now).push("), updated_at = ").bind(now).push(" WHERE id = ").bind(id);
        sql.push(" AND (work IS NULL OR work IN ('connect', 'unplug')) AND status IN ").bind_list(from.iter().map(|s| s.as_str()));
        self.volume_execute(sql).await
    }

    /// Announces the detach of everything that is attached to the volume, or takes that back. How many it changed.
    pub async fn attachments_leave(&mut self, volume_id: &str, leaving: bool) -> StoreResult<u64> {
        let sql = "UPDATE attachments SET leaving = $2 WHERE volume_id = $1 AND leaving <> $2 AND (NOT $2 OR status = 'attached')";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(volume_id).bind(leaving).execute(c).await?.rows_affected()))
    }

    /// The row goes; false when it is gone or `job_id` (if given) does not own it.
    pub async fn attachment_remove(&mut self, id: &str, job_id: Option<&str>) -> StoreResult<bool> {
        let mut sql = Sql::new("DELETE FROM attachments WHERE id = ");
        sql.bind(id);
        match job_id {
            Some(job) => sql.push(" AND job_id = ").bind(job),
            None => sql.push(" AND work IS NULL"),
        };
        self.volume_execute(sql).await
    }
}

impl Tx {
    /// The volume shows what its attachments, as they stand in this transaction, make of it. The caller holds the volume.
    pub async fn volume_follow_attachments(&mut self, volume_id: &str, now: Micros) -> StoreResult<()> {
        let attachments = self.attachments_of(volume_id).await?;
        let (status, attach) = volume_follows(attachments.iter().map(|a| counts_as(&a.status, a.leaving)));
        self.volume_follow(volume_id, status, attach, now).await?;
        Ok(())
    }
}
