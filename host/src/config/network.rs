//! `[network]`: the subnets that share servers get their addresses from.

use std::{fmt, net::IpAddr, str::FromStr};

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// The subnet of share networks that name none, by its id. Empty: such networks cannot have share servers.
    pub default_subnet: String,
    /// The subnet of the addresses that drivers ask for beside the users', by its id. Empty: such drivers build no servers.
    pub admin_subnet: String,
    /// The subnets, `[[network.subnet]]` each.
    #[serde(rename = "subnet")]
    pub subnets: Vec<SubnetConfig>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubnetConfig {
    /// What users pass as `neutron_subnet_id`, 1 to 36 characters.
    pub id: String,
    /// What users pass as `neutron_net_id`.
    pub network_id: String,
    pub cidr: IpNet,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<IpAddr>,
    /// The addresses that servers may have. Empty: all of the subnet but its first, its last (IPv4) and its gateway.
    #[serde(default)]
    pub ranges: Vec<AddressRange>,
    /// None: not tagged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
}

impl NetworkConfig {
    /// The subnet with this id.
    pub fn subnet(&self, id: &str) -> Option<&SubnetConfig> {
        self.subnets.iter().find(|s| s.id == id)
    }
}

/// Addresses from one to another, both included: `10.0.0.10-10.0.0.99`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    pub first: IpAddr,
    pub last: IpAddr,
}

impl FromStr for AddressRange {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let address = |part: &str| part.trim().parse::<IpAddr>().map_err(|_| format!("{part:?} is no IP address"));
        Ok(Self { first: address(first)?, last: address(last)? })
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

impl Serialize for AddressRange {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AddressRange {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_two_addresses_or_one() {
        let range: AddressRange = "10.0.0.10 - 10.0.0.99".parse().unwrap();
        assert_eq!(range.to_string(), "10.0.0.10-10.0.0.99");
        assert_eq!("fd00::5".parse::<AddressRange>().unwrap().to_string(), "fd00::5-fd00::5");
        assert!("10.0.0.10-".parse::<AddressRange>().is_err() && "10.0.0.0/24".parse::<AddressRange>().is_err());
    }
}
