//! Subnets of share networks: one or more in each availability zone, and default ones for zones without any.

mod accept;
mod ask;
pub mod check;
pub mod create;
pub mod delete;
pub mod in_use;
pub mod list;
pub mod metadata;
mod ready;
pub mod show;

pub use ask::KIND as CHECK_KIND;
use uuid::Uuid;

use crate::{
    app::App,
    clock,
    context::RequestContext,
    driver::types::{self, IpVersion},
    error::Result,
    service::{network_refusal as refusal, share_network},
    store::sql::{
        share_network_subnets::{Subnet, SubnetRow},
        share_networks::ShareNetworkRow,
    },
};

/// What a client says of a subnet: the ids that name it in the network service, both or neither, and what it believes that
/// the subnet is; the network service knows better as soon as a server is built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubnetValues {
    pub neutron_net_id: Option<String>,
    pub neutron_subnet_id: Option<String>,
    pub network_type: Option<String>,
    pub segmentation_id: Option<i64>,
    pub cidr: Option<String>,
    pub gateway: Option<String>,
    pub mtu: Option<i64>,
    pub ip_version: Option<i64>,
}

impl SubnetValues {
    /// A new row.
    pub(super) fn row(self, share_network_id: &str, availability_zone: Option<String>) -> SubnetRow {
        SubnetRow {
            id: Uuid::new_v4().to_string(),
            share_network_id: share_network_id.to_owned(),
            availability_zone,
            neutron_net_id: self.neutron_net_id,
            neutron_subnet_id: self.neutron_subnet_id,
            network_type: self.network_type,
            segmentation_id: self.segmentation_id,
            cidr: self.cidr,
            gateway: self.gateway,
            mtu: self.mtu,
            ip_version: self.ip_version,
            created_at: clock::now(),
            updated_at: None,
        }
    }
}

/// A subnet and the network it is of.
#[derive(Debug, Clone)]
pub struct OfNetwork {
    pub network: ShareNetworkRow,
    pub subnet: Subnet,
}

/// A subnet as its driver is told of it.
pub fn driver_subnet(s: &SubnetRow) -> types::Subnet {
    types::Subnet {
        id: s.id.clone(),
        availability_zone: s.availability_zone.clone(),
        network_type: s.network_type.clone(),
        segmentation_id: s.segmentation_id.and_then(|n| u32::try_from(n).ok()),
        cidr: s.cidr.clone().unwrap_or_default(),
        gateway: s.gateway.clone(),
        mtu: s.mtu.and_then(|n| u32::try_from(n).ok()),
        ip_version: if s.ip_version == Some(6) { IpVersion::V6 } else { IpVersion::V4 },
        neutron_net_id: s.neutron_net_id.clone(),
        neutron_subnet_id: s.neutron_subnet_id.clone(),
    }
}

/// The subnet, if it is the network's and the caller may know of that and do `action`.
async fn load_for(app: &App, ctx: &RequestContext, network_id: &str, id: &str, action: &str) -> Result<OfNetwork> {
    let network = share_network::load_row(app, ctx, network_id).await?;
    app.policy.check(ctx, action, &share_network::target(&network))?;
    match app.store.subnet(network_id, id).await? {
        Some(subnet) => Ok(OfNetwork { network, subnet }),
        None => Err(refusal::subnet_not_found(id)),
    }
}
