//! The array's shares.

mod access;
mod allocations;
mod ensure;
mod manage;
mod server_manage;
mod server_migration;
mod servers;
mod shares;
mod snapshots;

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::prelude::*;

use crate::{
    Memory,
    array::{Array, Object, SERVERS, SHARES},
};

/// What the array knows of a share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShareData {
    /// See [`VolumeData`](crate::block::VolumeData).
    pub content: String,
    #[serde(default)]
    pub polls_left: u32,
    /// How locations are written.
    pub protocol: String,
    pub server: Option<String>,
    /// Where it was exported before it was adopted.
    #[serde(default)]
    pub adopted: Option<String>,
    /// Pretend that so much is in use: what a shrink must not go below.
    #[serde(default)]
    pub used_gib: u64,
    /// Where in this array it was before its server moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// Where a share was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    pub server: Option<String>,
    pub pool: String,
}

/// What the array knows of a share server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerData {
    /// Subnet and addresses, in the order in which they were given.
    pub subnets: Vec<(String, Vec<String>)>,
    #[serde(default)]
    pub admin: Vec<String>,
    #[serde(default)]
    pub security_services: Vec<String>,
    #[serde(default)]
    pub polls_left: u32,
    /// What it was called before it was taken over, and still is.
    #[serde(default)]
    pub name: Option<String>,
}

impl ServerData {
    /// What the array calls it.
    pub fn identifier(&self, id: &str) -> String {
        self.name.clone().unwrap_or_else(|| format!("memory-{id}"))
    }

    pub fn addresses(&self) -> impl Iterator<Item = &String> {
        self.subnets.iter().flat_map(|(_, addresses)| addresses)
    }

    /// What the host keeps with the server.
    pub fn details(&self, id: &str) -> ServerDetails {
        let mut details = vec![KeyValue::new("identifier", self.identifier(id))];
        details.extend(self.addresses().enumerate().map(|(n, a)| KeyValue::new(&format!("address.{n}"), a)));
        details.extend(self.admin.iter().enumerate().map(|(n, a)| KeyValue::new(&format!("admin_address.{n}"), a)));
        details.extend(self.security_services.iter().enumerate().map(|(n, s)| KeyValue::new(&format!("security_service.{n}"), s)));
        details
    }
}

pub fn protocol_name(protocol: &ShareProtocol) -> String {
    match protocol {
        ShareProtocol::Nfs => "nfs",
        ShareProtocol::Cifs => "cifs",
        ShareProtocol::Cephfs => "cephfs",
        ShareProtocol::Glusterfs => "glusterfs",
        ShareProtocol::Hdfs => "hdfs",
        ShareProtocol::Maprfs => "maprfs",
        ShareProtocol::Other(other) => other,
    }
    .to_owned()
}

impl Memory {
    fn share(&self, array: &dyn Array, id: &str) -> Result<(Object, ShareData)> {
        let object = array.get(SHARES, id)?.ok_or_else(|| gone(id))?;
        let data = object.read()?;
        Ok((object, data))
    }

    /// Where a share, or a snapshot (`folder`), can be mounted: on its server's addresses, or on the array's own.
    fn locations(&self, array: &dyn Array, server: Option<&str>, protocol: &str, folder: &str, id: &str) -> Result<Vec<ExportLocation>> {
        let (addresses, admin) = match server {
            Some(server) => {
                let object = array.get(SERVERS, server)?;
                let object = object.ok_or_else(|| DriverError::not_found(format!("the array has no share server {server}")))?;
                let data: ServerData = object.read()?;
                (data.addresses().cloned().collect(), data.admin)
            }
            None => (self.config.addresses.clone(), self.config.admin_address.iter().cloned().collect::<Vec<_>>()),
        };
        let path = |address: &str| match protocol {
            "cifs" => format!("\\\\{address}\\{id}"),
            _ if address.contains(':') => format!("[{address}]:/{folder}/{id}"),
            _ => format!("{address}:/{folder}/{id}"),
        };
        let mut locations: Vec<ExportLocation> = addresses.iter().map(|a| ExportLocation::new(path(a))).collect();
        if let Some(first) = locations.first_mut() {
            first.preferred = true;
        }
        locations.extend(admin.iter().map(|a| ExportLocation::new(path(a)).for_admins()));
        Ok(locations)
    }

    fn share_update(&self, array: &dyn Array, id: &str, data: &ShareData) -> Result<ShareUpdate> {
        let locations = self.locations(array, data.server.as_deref(), &data.protocol, "shares", id)?;
        Ok(ShareUpdate { provider_id: Some(format!("memory-{id}")), ..ShareUpdate::at(locations) })
    }
}

fn gone(id: &str) -> DriverError {
    DriverError::not_found(format!("the array has no share {id}")).for_user("The share is missing in the storage.")
}
