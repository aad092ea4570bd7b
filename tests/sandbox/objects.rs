//! What verbs are called with.

use stowage::driver::types::{
    AccessKind, AccessMode, AccessRule, Allocation, Connector, IpVersion, NetworkInfo, Share, ShareProtocol, ShareServer, ShareSnapshot,
    Subnet, Volume, VolumeSnapshot,
};
use uuid::Uuid;

pub fn id() -> String {
    Uuid::new_v4().to_string()
}

pub fn volume(size_gib: u64) -> Volume {
    Volume { id: id(), name: "data".into(), project_id: "p".repeat(32), pool: "pool0".into(), size_gib, ..Volume::default() }
}

pub fn snapshot_of(volume: &Volume) -> VolumeSnapshot {
    VolumeSnapshot { id: id(), volume_id: volume.id.clone(), size_gib: volume.size_gib, ..VolumeSnapshot::default() }
}

pub fn connector(host: &str) -> Connector {
    Connector {
        host: host.into(),
        ip: Some("192.0.2.1".into()),
        initiator: Some(format!("iqn.1993-08.org.debian:01:{host}")),
        ..Connector::default()
    }
}

pub fn share(size_gib: u64, server: Option<ShareServer>) -> Share {
    Share {
        id: id(),
        name: "home".into(),
        project_id: "p".repeat(32),
        pool: "pool0".into(),
        protocol: ShareProtocol::Nfs,
        size_gib,
        provider_id: None,
        provider_data: None,
        locations: vec![],
        server,
        specs: Default::default(),
        metadata: Default::default(),
    }
}

pub fn snapshot_of_share(share: &Share) -> ShareSnapshot {
    ShareSnapshot {
        id: id(),
        name: String::new(),
        project_id: share.project_id.clone(),
        share_id: share.id.clone(),
        size_gib: share.size_gib,
        provider_id: None,
        provider_data: None,
        locations: vec![],
        server: share.server.clone(),
        metadata: Default::default(),
    }
}

pub fn rule(to: &str) -> AccessRule {
    AccessRule { id: id(), kind: AccessKind::Ip, to: to.into(), level: AccessMode::ReadWrite, key: None }
}

pub fn network(third: u8) -> NetworkInfo {
    let subnet = Subnet {
        id: id(),
        availability_zone: None,
        network_type: Some("vlan".into()),
        segmentation_id: Some(100 + u32::from(third)),
        cidr: format!("198.51.{third}.0/24"),
        gateway: None,
        mtu: Some(1500),
        ip_version: IpVersion::V4,
        neutron_net_id: None,
        neutron_subnet_id: None,
    };
    let allocation = Allocation { id: id(), ip_address: format!("198.51.{third}.9"), mac_address: None, label: String::new() };
    NetworkInfo { subnet, allocations: vec![allocation], admin_allocations: vec![], security_services: vec![] }
}
