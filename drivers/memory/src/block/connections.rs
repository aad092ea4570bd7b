//! How hosts reach volumes. One object for each volume and name that the protocol knows a host by (`initiator`, `nqn`, each of
//! `wwpns`, else `host`): a second attachment by the same name finds the first one's connection.

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::prelude::*;

use super::gone;
use crate::{
    Memory,
    array::{CONNECTIONS, Created, Object, VOLUMES},
};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ConnectionData {
    read_only: bool,
    host: String,
    /// Of this connection: a new one has another.
    secret: String,
}

/// Names may be anything; keys are short and plain.
fn id_of(volume: &Volume, name: &str) -> String {
    let mut id = format!("{}.", volume.id);
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => id.push(char::from(byte)),
            other => id.push_str(&format!("%{other:02x}")),
        }
    }
    if id.len() > 200 {
        id.truncate(180);
        id.push_str(&format!("{:016x}", mark_of(name)));
    }
    id
}

fn mark_of(text: &str) -> u64 {
    text.bytes().fold(0, |n, b| n.wrapping_mul(1_099_511_628_211).wrapping_add(b.into()))
}

impl Memory {
    fn protocol(&self) -> BlockProtocol {
        self.config.features.block_protocols.first().cloned().unwrap_or(BlockProtocol::Iscsi)
    }

    /// What the protocol knows the host by, and what it is called when it is missing. Nothing: by its name.
    fn names(&self, connector: &Connector) -> (Vec<String>, &'static str) {
        let (names, what) = match self.protocol() {
            BlockProtocol::Iscsi => (connector.initiator.iter().cloned().collect(), "initiator"),
            BlockProtocol::FibreChannel => (connector.wwpns.iter().map(|port| port.to_ascii_lowercase()).collect(), "wwpns"),
            BlockProtocol::NvmeOf => (connector.nqn.iter().cloned().collect(), "nqn"),
            _ => (vec![connector.host.clone()], "host"),
        };
        let names: Vec<String> = names;
        (names.into_iter().filter(|name| !name.is_empty() || what == "host").collect(), what)
    }

    fn named(&self, connector: &Connector) -> Result<Vec<String>> {
        match self.names(connector) {
            (names, what) if names.is_empty() => {
                Err(DriverError::invalid(format!("the connector lacks `{what}`")).for_user(format!("The connector lacks {what}.")))
            }
            (names, _) => Ok(names),
        }
    }

    fn target(&self, cx: &Context, volume: &Volume, connector: &Connector, secret: String) -> Result<ConnectionTarget> {
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
                auth: self.config.chap.then(|| Chap { user: format!("u-{}", volume.id), password: secret }),
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
        self.verb(cx, "", &connector.host, |_| self.named(connector).map(drop))
    }

    fn connect(&self, cx: &Context, volume: &Volume, _: &str, mode: AccessMode, connector: &Connector) -> Result<Connection> {
        self.verb(cx, &volume.id, &volume.name, |plan| {
            let names = self.named(connector)?;
            let array = self.array(cx);
            array.get(VOLUMES, &volume.id)?.ok_or_else(|| gone(&volume.id))?;
            let fresh = ConnectionData {
                read_only: mode == AccessMode::ReadOnly,
                host: connector.host.clone(),
                secret: format!("p-{:016x}", mark_of(&cx.call.operation_id)),
            };
            let mut secret = fresh.secret.clone();
            for name in names {
                let id = id_of(volume, &name);
                let mut made = fresh.clone();
                if let Some(lost) = self.kept_as(cx, &id)? {
                    made.secret = lost.read::<ConnectionData>()?.secret;
                }
                if let Created::There(there) = array.create(CONNECTIONS, &id, &Object::new(&volume.pool, 0, &made)?, None)? {
                    made.secret = there.read::<ConnectionData>()?.secret;
                    if there.data != Object::new(&volume.pool, 0, &made)?.data {
                        array.change(CONNECTIONS, &id, None, &mut |o| o.write(&made).map(|()| true))?;
                    }
                }
                self.keep(cx, &id, &Object::new(&volume.pool, 0, &made)?)?;
                secret = made.secret;
            }
            if plan.lie {
                let nowhere = IscsiConnection { targets: Vec::new(), auth: None, discovery_auth: None, discard: false };
                return Ok(Connection::new(ConnectionTarget::Iscsi(nowhere)));
            }
            Ok(Connection::new(self.target(cx, volume, connector, secret)?))
        })
    }

    fn disconnect(&self, cx: &Context, volume: &Volume, target: &DisconnectTarget) -> Result<()> {
        self.verb(cx, &volume.id, &volume.name, |plan| {
            let array = self.array(cx);
            // also what the array has lost: it must not come back
            let there = || -> Result<Vec<(String, Object)>> {
                let below = id_of(volume, "");
                Ok(array.list(CONNECTIONS, &below)?.into_iter().chain(self.kept(cx, &below)?).collect())
            };
            let ends: Vec<String> = match target {
                DisconnectTarget::Connector(connector) => match self.names(connector).0 {
                    // what its host has is found by the host's name
                    names if names.is_empty() || plan.lie => {
                        let theirs = |(id, object): (String, Object)| {
                            object.read::<ConnectionData>().is_ok_and(|data| data.host == connector.host).then_some(id)
                        };
                        there()?.into_iter().filter_map(theirs).collect()
                    }
                    names => names.iter().map(|name| id_of(volume, name)).collect(),
                },
                DisconnectTarget::All => there()?.into_iter().map(|(id, _)| id).collect(),
            };
            ends.iter().try_for_each(|id| {
                self.forget(cx, id)?;
                array.remove(CONNECTIONS, id).map(drop)
            })
        })
    }

    fn ensure_export(&self, cx: &Context, volume: &Volume) -> Result<()> {
        self.verb(cx, &volume.id, &volume.name, |_| {
            let array = self.array(cx);
            self.volume(&*array, &volume.id)?;
            for (id, connection) in self.kept(cx, &id_of(volume, ""))? {
                // as it was, with its secret: who uses it logs in again by itself
                if array.get(CONNECTIONS, &id)?.is_none() {
                    array.create(CONNECTIONS, &id, &connection, None)?;
                }
            }
            Ok(())
        })
    }
}
