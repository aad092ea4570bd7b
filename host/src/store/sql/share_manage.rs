//! Shares and snapshots that somebody else made, and that are taken over or let go of.

use crate::{
    clock::Micros,
    domain::{host::backend_of, share::ShareStatus, share_server::ServerStatus, share_snapshot::ShareSnapshotStatus},
    store::{StoreResult, Tx, bind::Sql, on_tx},
};

impl Tx {
    /// How many shares of a back end, which the caller holds, are exported at this path.
    pub async fn shares_exported_at(&mut self, backend: &str, path: &str) -> StoreResult<i64> {
        let sql = "SELECT COUNT(*) FROM share_export_locations l JOIN share_instances i ON i.id = l.share_instance_id WHERE l.path = $2 AND i.backend = $1";
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(backend).bind(path).fetch_one(c).await?);
        Ok(n)
    }

    /// A share that is taken over is in this pool: nobody chose it.
    pub async fn share_located(&mut self, id: &str, host: &str, zone: &str, now: Micros) -> StoreResult<bool> {
        let backend = backend_of(host);
        let mut sql = Sql::new("UPDATE share_instances SET host = ");
        sql.bind(host).push(", backend = ").bind(backend).push(", availability_zone = ").bind(zone);
        sql.push(", backed = TRUE, updated_at = ").bind(now).push(" WHERE share_id = ").bind(id);
        sql.push(" AND status = ").bind(ShareStatus::Managing.as_str());
        self.run(sql).await
    }

    /// manage_starting -> available, as the back end says.
    pub async fn share_managed(
        &mut self,
        id: &str,
        gib: i64,
        provider_id: Option<&str>,
        provider_data: Option<&str>,
        now: Micros,
    ) -> StoreResult<bool> {
        if !self.share_status(id, &[ShareStatus::Managing], ShareStatus::Available, now).await? {
            return Ok(false);
        }
        on_tx!(self, c => sqlx::query("UPDATE shares SET size_gib = $2 WHERE id = $1").bind(id).bind(gib).execute(c).await?.rows_affected());
        let sql = "UPDATE share_instances SET provider_id = $2, provider_data = $3, progress = '100%' WHERE share_id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(provider_id).bind(provider_data).execute(c).await?.rows_affected());
        Ok(true)
    }

    /// What arrays call the servers that there are.
    pub async fn share_server_identifiers(&mut self) -> StoreResult<Vec<(String, String)>> {
        let sql = "SELECT id, identifier FROM share_servers ORDER BY id";
        Ok(on_tx!(self, c => sqlx::query_as(sql).fetch_all(c).await?))
    }

    /// What the array calls a server that is taken over.
    pub async fn share_server_known_as(&mut self, id: &str, identifier: &str) -> StoreResult<()> {
        let sql = "UPDATE share_servers SET identifier = $2 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(identifier).execute(c).await?.rows_affected());
        Ok(())
    }

    /// manage_starting -> active, with what the driver wants back.
    pub async fn share_server_managed(
        &mut self,
        id: &str,
        details: &str,
        identifier: Option<&str>,
        network_allocation_update_support: bool,
        now: Micros,
    ) -> StoreResult<bool> {
        if !self.share_server_status(id, &[ServerStatus::Managing], ServerStatus::Active, now).await? {
            return Ok(false);
        }
        let sql = "UPDATE share_servers SET details = $2, identifier = COALESCE($3, identifier), network_allocation_update_support = $4 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(details).bind(identifier).bind(network_allocation_update_support)
            .execute(c).await?.rows_affected());
        Ok(true)
    }

    /// The server may hold what nobody knows of any more: it goes only when somebody says so.
    pub async fn share_server_keep(&mut self, id: &str, now: Micros) -> StoreResult<()> {
        let sql = "UPDATE share_servers SET is_auto_deletable = FALSE, updated_at = $2 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(now).execute(c).await?.rows_affected());
        Ok(())
    }

    /// How many snapshots of a share, which the caller holds, the array knows by this name.
    pub async fn share_snapshots_known_as(&mut self, share_id: &str, provider_id: &str) -> StoreResult<i64> {
        let sql = "SELECT COUNT(*) FROM share_snapshot_instances i JOIN share_snapshots n ON n.id = i.snapshot_id WHERE n.share_id = $1 AND i.provider_id = $2";
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(share_id).bind(provider_id).fetch_one(c).await?);
        Ok(n)
    }

    /// What the array knows a snapshot by that is taken over.
    pub async fn share_snapshot_known_as(&mut self, id: &str, provider_id: &str) -> StoreResult<()> {
        let sql = "UPDATE share_snapshot_instances SET provider_id = $2 WHERE snapshot_id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(provider_id).execute(c).await?.rows_affected());
        Ok(())
    }

    /// manage_starting -> available, as the back end says.
    pub async fn share_snapshot_managed(
        &mut self,
        id: &str,
        gib: i64,
        provider_id: Option<&str>,
        provider_data: Option<&str>,
        now: Micros,
    ) -> StoreResult<bool> {
        if !self.share_snapshot_status(id, &[ShareSnapshotStatus::Managing], ShareSnapshotStatus::Available, now).await? {
            return Ok(false);
        }
        on_tx!(self, c => sqlx::query("UPDATE share_snapshots SET size_gib = $2 WHERE id = $1").bind(id).bind(gib).execute(c).await?.rows_affected());
        let sql = "UPDATE share_snapshot_instances SET provider_id = COALESCE($2, provider_id), provider_data = $3, progress = '100%' WHERE snapshot_id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(id).bind(provider_id).bind(provider_data).execute(c).await?.rows_affected());
        Ok(true)
    }
}
