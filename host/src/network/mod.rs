//! Addresses for share servers, from whatever network service there is.
//!
//! A share network's subnet names a network and a subnet by the ids that the client passed; a plug-in says what they are and
//! gives addresses in them. Invariants: an allocation is a row before its address is used, and an address of one subnet is
//! never given twice; asked again for the same server, a plug-in gives the addresses that it has; giving back what is given
//! back succeeds. On failure the caller rolls back, so that of several subnets either all got their addresses or none.

pub mod error;
pub mod r#static;

use std::net::IpAddr;

use futures::future::BoxFuture;

pub use error::NetworkError;

use crate::{
    driver::types::IpVersion,
    store::{Tx, sql::network_allocations::AllocationRow},
};

/// What a share network's subnet says about itself: both or neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubnetIds {
    pub neutron_net_id: Option<String>,
    pub neutron_subnet_id: Option<String>,
}

/// A subnet of the network service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// What no address is given twice in.
    pub key: String,
    /// `flat`, `vlan`, ...
    pub network_type: String,
    pub segmentation_id: Option<u32>,
    pub cidr: String,
    pub gateway: Option<String>,
    pub mtu: Option<u32>,
    pub ip_version: IpVersion,
}

/// Where addresses are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a subnet of the server's share network.
    Subnet { id: String, ids: SubnetIds },
    /// In the operator's own network.
    Admin,
}

/// How many addresses a server wants in one place, in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    pub place: Place,
    pub count: u32,
}

/// What a want got.
#[derive(Debug, Clone)]
pub struct Reserved {
    pub segment: Segment,
    pub allocations: Vec<AllocationRow>,
}

/// A source of addresses.
pub trait NetworkPlugin: Send + Sync {
    /// What a place is. Changes nothing.
    ///
    /// # Errors
    /// [`NetworkError::UnknownSubnet`], [`NetworkError::NoDefault`], [`NetworkError::NoAdminSubnet`].
    fn segment(&self, place: &Place) -> Result<Segment, NetworkError>;

    /// Writes the addresses of a server down, in the order of `wants`; those it has already count. The server's row is there.
    ///
    /// # Errors
    /// Also [`NetworkError::Exhausted`]. The caller drops `tx`.
    fn reserve<'a>(&'a self, tx: &'a mut Tx, server_id: &'a str, wants: &'a [Want]) -> BoxFuture<'a, Result<Vec<Reserved>, NetworkError>>;

    /// Writes the addresses down that a server has which somebody else made: each is in one of `places`, whose segments are the
    /// answer. What the server was given before and does not have is given back. The server's row is there.
    ///
    /// # Errors
    /// Also [`NetworkError::Elsewhere`], [`NetworkError::Taken`]. The caller drops `tx`.
    fn adopt<'a>(
        &'a self,
        tx: &'a mut Tx,
        server_id: &'a str,
        places: &'a [Place],
        addresses: &'a [IpAddr],
    ) -> BoxFuture<'a, Result<Vec<Segment>, NetworkError>>;

    /// Gives addresses back that are in no use any more.
    ///
    /// # Errors
    /// [`NetworkError::Store`].
    fn release<'a>(&'a self, tx: &'a mut Tx, allocations: &'a [AllocationRow]) -> BoxFuture<'a, Result<(), NetworkError>>;
}
