//! How hosts reach volumes. One object a (volume, host): a second attachment from a host finds the first one's connection.

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::prelude::*;

use super::gone;
use crate::{
    Memory,
    array::{CONNECTIONS, Created, Object, VOLUMES},
};

#[derive(Debug, Serialize, Deserialize)]
struct ConnectionData {
    read_only: bool,
    initiator: String,
}

/// Hosts may be called anything; keys are short and plain.
fn id_of(volume: &Volume, host: &str) -> String {
    let mut id = format!("{}.", volume.id);
    for byte in host.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => id.push(char::from(byte)),
            other => id.push_str(&format!("%{other:02x}")),
        }
    }
    if id.len() > 200 {
        let mark = host.bytes().fold(0_u64, |n, b| n.wrapping_mul(1_099_511_628_211).wrapping_add(b.into()));
        id.truncate(180);
        id.push_str(&format!("{mark:016x}"));
    }
    id
}

impl Memory {
    fn protocol(&self) -> BlockProtocol {
        self.config.features.block_protocols.first().cloned().unwrap_or(BlockProtocol::Iscsi)
    }

    /// What identifies the host on the wire; `invalid` names what is missing.
    fn initiator(&self, connector: &Connector) -> Result<String> {
        let lacks =
            |what: &str| DriverError::invalid(format!("the connector lacks `{what}`")).for_user(format!("The connector lacks {what}."));
        match self.protocol() {
            BlockProtocol::Iscsi => connector.initiator.clone().ok_or_else(|| lacks("initiator")),
            BlockProtocol::FibreChannel => connector.wwpns.first().cloned().ok_or_else(|| lacks("wwpns")),
            BlockProtocol::NvmeOf => connector.nqn.clone().ok_or_else(|| lacks("nqn")),
            _ => Ok(connector.host.clone()),
        }
    }

    fn target(&self, cx: &Context, volume: &Volume, connector: &Connector) -> Result<ConnectionTarget> {
        let shared = self.config.features.shared_targets == SharedTargets::Yes;
        let name = if shared { cx.backend() } else { volume.id.clone() };
        let number = volume.id.bytes().fold(0_u32, |n, b| n.wrapping_mul(31).wrapping_add(b.into()));
        let lun = if shared { number % 16_000 + 1 } else { 1 };
        let wanted = if connector.multipath { self.config.addresses.len() } else { 1 };
        let addresses = || self.config.addresses.iter().take(wanted.max(1)).map(|a| bracketed(a));
        Ok(match self.protocol() {
            BlockProtocol::FibreChannel => {
                let targets: Vec<FcTarget> = (0..wanted.max(1)).map(|n| FcTarget { wwn: format!("50014ca{n}{number:08x}"), lun }).collect();
                let wwns: Vec<String> = targets.iter().map(|t| t.wwn.clone()).collect();
                let map = connector.wwpns.iter().map(|initiator| (initiator.clone(), wwns.clone())).collect();
                ConnectionTarget::FibreChannel(FcConnection { targets, initiator_target_map: map, discard: false })
            }
            BlockProtocol::NvmeOf => ConnectionTarget::NvmeOf(NvmeConnection {
                nqn: format!("nqn.2026-01.org.stowage:{name}"),
                portals: addresses().map(|address| NvmePortal { address, port: 4420, transport: NvmeTransport::Tcp }).collect(),
                volume_uuid: Some(volume.id.clone()),
                volume_nguid: None,
                namespace_id: Some(lun),
                discard: true,
            }),
            BlockProtocol::Rbd => ConnectionTarget::Rbd(RbdConnection {
                name: format!("{}/{}", volume.pool, volume.id),
                hosts: self.config.addresses.clone(),
                ports: self.config.addresses.iter().map(|_| "6789".to_owned()).collect(),
                cluster_name: "ceph".to_owned(),
                auth_enabled: true,
                auth_username: Some("stowage".to_owned()),
                secret_uuid: None,
                keyring: None,
                discard: true,
            }),
            BlockProtocol::Nfs => ConnectionTarget::Nfs(NfsConnection {
                share: format!("{}:/{}", bracketed(&self.config.addresses[0]), volume.pool),
                name: volume.id.clone(),
                options: None,
                format: "raw".to_owned(),
            }),
            BlockProtocol::Other(kind) => ConnectionTarget::Other(kind),
            BlockProtocol::Iscsi => ConnectionTarget::Iscsi(IscsiConnection {
                targets: addresses()
                    .map(|a| IscsiTarget { portal: format!("{a}:3260"), iqn: format!("iqn.2026-01.org.stowage:{name}"), lun })
                    .collect(),
                auth: self.config.chap.then(|| Chap { user: format!("u-{}", volume.id), password: format!("p-{number:08x}") }),
                discovery_auth: None,
                discard: false,
            }),
        })
    }
}

fn bracketed(address: &str) -> String {
    if address.contains(':') { format!("[{address}]") } else { address.to_owned() }
}

impl ConnectionInfo for Memory {
    fn validate_connector(&self, cx: &Context, connector: &Connector) -> Result<()> {
        self.verb(cx, "", &connector.host, |_| self.initiator(connector).map(drop))
    }

    fn connect(&self, cx: &Context, volume: &Volume, _: &str, mode: AccessMode, connector: &Connector) -> Result<Connection> {
        self.verb(cx, &volume.id, &volume.name, |plan| {
            let initiator = self.initiator(connector)?;
            let array = self.array(cx);
            array.get(VOLUMES, &volume.id)?.ok_or_else(|| gone(&volume.id))?;
            let data = ConnectionData { read_only: mode == AccessMode::ReadOnly, initiator };
            let object = Object::new(&volume.pool, 0, &data)?;
            let id = id_of(volume, &connector.host);
            if let Created::There(there) = array.create(CONNECTIONS, &id, &object, None)?
                && there.data != object.data
            {
                array.change(CONNECTIONS, &id, None, &mut |o| o.write(&data).map(|()| true))?;
            }
            if plan.lie {
                let nowhere = IscsiConnection { targets: Vec::new(), auth: None, discovery_auth: None, discard: false };
                return Ok(Connection::new(ConnectionTarget::Iscsi(nowhere)));
            }
            Ok(Connection::new(self.target(cx, volume, connector)?))
        })
    }

    fn disconnect(&self, cx: &Context, volume: &Volume, target: &DisconnectTarget) -> Result<()> {
        self.verb(cx, &volume.id, &volume.name, |_| {
            let array = self.array(cx);
            match target {
                DisconnectTarget::Connector(connector) => array.remove(CONNECTIONS, &id_of(volume, &connector.host)).map(drop),
                DisconnectTarget::All => {
                    for (id, _) in array.list(CONNECTIONS, &id_of(volume, ""))? {
                        array.remove(CONNECTIONS, &id)?;
                    }
                    Ok(())
                }
            }
        })
    }

    fn ensure_export(&self, cx: &Context, volume: &Volume) -> Result<()> {
        self.verb(cx, &volume.id, &volume.name, |_| self.volume(&*self.array(cx), &volume.id).map(drop))
    }
}
