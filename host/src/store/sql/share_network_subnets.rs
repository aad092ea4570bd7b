//! Subnets of share networks.

use std::collections::HashMap;

use super::metadata::{MetadataOf, Pairs};
use crate::{
    clock::Micros,
    network::Segment,
    store::{
        Store, StoreResult, Tx,
        bind::{Sql, Value},
        on_read, on_tx,
    },
};

/// A subnet as it stands in the database.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct SubnetRow {
    pub id: String,
    pub share_network_id: String,
    /// None: the default subnet, which serves every zone that has none of its own.
    pub availability_zone: Option<String>,
    pub neutron_net_id: Option<String>,
    pub neutron_subnet_id: Option<String>,
    /// This and what follows: as the network plug-in tells when the first server is built.
    pub network_type: Option<String>,
    pub segmentation_id: Option<i64>,
    pub cidr: Option<String>,
    pub gateway: Option<String>,
    pub mtu: Option<i64>,
    pub ip_version: Option<i64>,
    pub created_at: Micros,
    pub updated_at: Option<Micros>,
}

/// A subnet with all that a view shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subnet {
    pub row: SubnetRow,
    pub metadata: Pairs,
}

pub(super) const SELECT: &str = "SELECT s.id, s.share_network_id, s.availability_zone, s.neutron_net_id, s.neutron_subnet_id, s.network_type, s.segmentation_id, s.cidr, \
     s.gateway, s.mtu, s.ip_version, s.created_at, s.updated_at FROM share_network_subnets s WHERE NOT s.deleting";

/// Of a server also those that were deleted and wait for it to go.
const OF_SERVER: &str = "SELECT s.id, s.share_network_id, s.availability_zone, s.neutron_net_id, s.neutron_subnet_id, s.network_type, s.segmentation_id, s.cidr, \
     s.gateway, s.mtu, s.ip_version, s.created_at, s.updated_at FROM share_network_subnets s \
     JOIN share_server_subnets m ON m.subnet_id = s.id WHERE m.share_server_id = $1 ORDER BY s.created_at, s.id";

const OF_NETWORK: &str = " AND s.share_network_id = $1 ORDER BY s.created_at, s.id";

impl Store {
    /// A subnet of this network.
    pub async fn subnet(&self, network_id: &str, id: &str) -> StoreResult<Option<Subnet>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} AND s.share_network_id = $1 AND s.id = $2"));
        let row: Option<SubnetRow> = on_read!(self, p => sqlx::query_as(sql).bind(network_id).bind(id).fetch_optional(p).await?);
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Subnet { metadata: self.metadata(MetadataOf::Subnet, id).await?, row }))
    }

    /// The subnets that a server is on, the oldest first.
    pub async fn subnets_of_server(&self, server_id: &str) -> StoreResult<Vec<SubnetRow>> {
        Ok(on_read!(self, p => sqlx::query_as(OF_SERVER).bind(server_id).fetch_all(p).await?))
    }

    /// The subnets of these networks, by network, the oldest first.
    pub async fn subnets_of_all<'i>(
        &self,
        network_ids: impl IntoIterator<Item = &'i str>,
        metadata: bool,
    ) -> StoreResult<HashMap<String, Vec<Subnet>>> {
        let mut sql = Sql::new(format!("{SELECT} AND s.share_network_id IN "));
        sql.bind_list(network_ids).push(" ORDER BY s.created_at, s.id");
        let mut found: HashMap<String, Vec<Subnet>> = HashMap::new();
        if sql.values.is_empty() {
            return Ok(found);
        }
        let rows: Vec<SubnetRow> = self.fetch_all(sql).await?;
        let mut pairs = HashMap::new();
        if metadata {
            pairs = self.metadata_of_all(MetadataOf::Subnet, rows.iter().map(|r| r.id.as_str())).await?;
        }
        for row in rows {
            let metadata = pairs.remove(&row.id).unwrap_or_default();
            found.entry(row.share_network_id.clone()).or_default().push(Subnet { row, metadata });
        }
        Ok(found)
    }
}

impl Tx {
    /// The subnets of a network, the oldest first.
    pub async fn subnets(&mut self, network_id: &str) -> StoreResult<Vec<SubnetRow>> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT}{OF_NETWORK}"));
        Ok(on_tx!(self, c => sqlx::query_as(sql).bind(network_id).fetch_all(c).await?))
    }

    /// How many subnets a network has.
    pub async fn subnet_count(&mut self, network_id: &str) -> StoreResult<i64> {
        let sql = "SELECT COUNT(*) FROM share_network_subnets WHERE share_network_id = $1";
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(network_id).fetch_one(c).await?);
        Ok(n)
    }

    pub async fn subnet_insert(&mut self, s: &SubnetRow) -> StoreResult<()> {
        let sql = "INSERT INTO share_network_subnets (id, share_network_id, availability_zone, neutron_net_id, neutron_subnet_id, network_type, \
                   segmentation_id, cidr, gateway, mtu, ip_version, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        on_tx!(self, c => sqlx::query(sql).bind(&s.id).bind(&s.share_network_id).bind(&s.availability_zone).bind(&s.neutron_net_id)
            .bind(&s.neutron_subnet_id).bind(&s.network_type).bind(s.segmentation_id).bind(&s.cidr).bind(&s.gateway).bind(s.mtu).bind(s.ip_version)
            .bind(s.created_at).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The ids that name the subnet in the network service; none leaves one as it is.
    pub async fn subnet_rename(
        &mut self,
        id: &str,
        net: Option<Option<&str>>,
        subnet: Option<Option<&str>>,
        now: Micros,
    ) -> StoreResult<bool> {
        let mut sql = Sql::new("UPDATE share_network_subnets SET updated_at = ");
        sql.bind(now);
        for (column, value) in [("neutron_net_id", net), ("neutron_subnet_id", subnet)] {
            if let Some(value) = value {
                sql.push(", ").push(column).push(" = ").bind(Value::Text(value.map(str::to_owned)));
            }
        }
        sql.push(" WHERE NOT deleting AND id = ").bind(id);
        self.run(sql).await
    }

    /// What the network plug-in says that the subnet is.
    pub async fn subnet_found(&mut self, id: &str, segment: &Segment, now: Micros) -> StoreResult<bool> {
        let version = match segment.ip_version {
            crate::driver::types::IpVersion::V4 => 4_i64,
            crate::driver::types::IpVersion::V6 => 6,
        };
        let sql = "UPDATE share_network_subnets SET network_type = $2, segmentation_id = $3, cidr = $4, gateway = $5, mtu = $6, ip_version = $7, updated_at = $8 \
                   WHERE id = $1";
        Ok(
            on_tx!(self, c => sqlx::query(sql).bind(id).bind(&segment.network_type).bind(segment.segmentation_id.map(i64::from)).bind(&segment.cidr)
            .bind(&segment.gateway).bind(segment.mtu.map(i64::from)).bind(version).bind(now).execute(c).await?.rows_affected())
                == 1,
        )
    }

    /// Nobody sees the subnet any more; it goes with its last server.
    pub async fn subnet_hide(&mut self, id: &str, now: Micros) -> StoreResult<bool> {
        let sql = "UPDATE share_network_subnets SET deleting = TRUE, updated_at = $2 WHERE id = $1 AND NOT deleting";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).bind(now).execute(c).await?.rows_affected()) == 1)
    }
}
