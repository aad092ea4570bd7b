//! The driver's typed connection as the `connection_info` that consumers know, nested as stored; the attachment API shows
//! it flat. Holds secrets: it goes to the caller of connect and to the attachment's readers, never to a log.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::driver::types::{self, AccessMode, Chap, Connection, ConnectionTarget, IscsiConnection, NvmeConnection, NvmeTransport};

/// `driver_volume_type`, `data`, and what stands beside them.
/// `qos` is what whoever attaches shall keep to.
pub fn connection_info(
    connection: &Connection,
    attachment_id: &str,
    volume_id: &str,
    mode: AccessMode,
    qos: Option<&BTreeMap<String, String>>,
) -> Value {
    let (kind, mut data) = target(&connection.target);
    for (key, value) in &connection.extra {
        data.entry(key.clone()).or_insert_with(|| property(value));
    }
    for (key, value) in [
        ("volume_id", json!(volume_id)),
        ("qos_specs", json!(qos)),
        ("access_mode", json!(mode.as_str())),
        ("encrypted", json!(false)),
        ("cacheable", json!(false)),
    ] {
        data.insert(key.to_owned(), value);
    }
    json!({ "driver_volume_type": kind, "data": data, "attachment_id": attachment_id, "enforce_multipath": false })
}

fn target(target: &ConnectionTarget) -> (String, Map<String, Value>) {
    let (kind, data) = match target {
        ConnectionTarget::Iscsi(c) => ("iscsi", iscsi(c)),
        ConnectionTarget::FibreChannel(c) => {
            let wwns: Vec<&str> = c.targets.iter().map(|t| t.wwn.as_str()).collect();
            let luns: Vec<u32> = c.targets.iter().map(|t| t.lun).collect();
            let data = json!({
                "target_discovered": true,
                "target_wwn": wwns,
                "target_lun": luns.first(),
                "target_luns": luns,
                "initiator_target_map": c.initiator_target_map,
                "discard": c.discard,
            });
            ("fibre_channel", data)
        }
        ConnectionTarget::NvmeOf(c) => ("nvmeof", nvme(c)),
        ConnectionTarget::Rbd(c) => {
            let data = json!({
                "name": c.name,
                "hosts": c.hosts,
                "ports": c.ports,
                "cluster_name": c.cluster_name,
                "auth_enabled": c.auth_enabled,
                "auth_username": c.auth_username,
                "secret_type": "ceph",
                "secret_uuid": c.secret_uuid,
                "keyring": c.keyring,
                "discard": c.discard,
            });
            ("rbd", data)
        }
        ConnectionTarget::Nfs(c) => ("nfs", json!({ "export": c.share, "name": c.name, "options": c.options, "format": c.format })),
        ConnectionTarget::Other { driver_volume_type } => return (driver_volume_type.clone(), Map::new()),
    };
    let Value::Object(data) = data else { return (kind.to_owned(), Map::new()) };
    (kind.to_owned(), data)
}

fn iscsi(c: &IscsiConnection) -> Value {
    let mut data = json!({ "target_discovered": false, "discard": c.discard });
    if let Some(first) = c.targets.first() {
        data["target_portal"] = json!(first.portal);
        data["target_iqn"] = json!(first.iqn);
        data["target_lun"] = json!(first.lun);
    }
    if c.targets.len() > 1 {
        data["target_portals"] = c.targets.iter().map(|t| t.portal.as_str()).collect();
        data["target_iqns"] = c.targets.iter().map(|t| t.iqn.as_str()).collect();
        data["target_luns"] = c.targets.iter().map(|t| t.lun).collect();
    }
    for (prefix, chap) in [("auth", &c.auth), ("discovery_auth", &c.discovery_auth)] {
        if let Some(Chap { user, password }) = chap {
            data[format!("{prefix}_method")] = json!("CHAP");
            data[format!("{prefix}_username")] = json!(user);
            data[format!("{prefix}_password")] = json!(password);
        }
    }
    data
}

fn nvme(c: &NvmeConnection) -> Value {
    let transport = |t: NvmeTransport| match t {
        NvmeTransport::Tcp => "tcp",
        NvmeTransport::Rdma => "rdma",
    };
    let portals: Vec<Value> = c.portals.iter().map(|p| json!([p.address, p.port.to_string(), transport(p.transport)])).collect();
    let mut data = json!({
        "target_nqn": c.nqn,
        "portals": portals,
        "vol_uuid": c.volume_uuid,
        "volume_nguid": c.volume_nguid,
        "ns_id": c.namespace_id,
        "discard": c.discard,
    });
    if let Some(first) = c.portals.first() {
        // what consumers before the list of portals read
        data["nqn"] = json!(c.nqn);
        data["target_portal"] = json!(first.address);
        data["target_port"] = json!(first.port.to_string());
        data["transport_type"] = json!(transport(first.transport));
    }
    data
}

fn property(value: &types::Value) -> Value {
    match value {
        types::Value::Boolean(b) => json!(b),
        // whole numbers are whole outside
        types::Value::Number(n) if n.fract() == 0.0 && n.abs() < 9e15 => json!(*n as i64),
        types::Value::Number(n) => json!(n),
        types::Value::Text(t) => json!(t),
        types::Value::Texts(list) => json!(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::types::IscsiTarget;

    fn iscsi_of(targets: usize, auth: Option<Chap>) -> Value {
        let targets = (0..targets).map(|n| IscsiTarget { portal: format!("10.0.0.{n}:3260"), iqn: format!("iqn.x:{n}"), lun: 1 }).collect();
        let connection = Connection {
            target: ConnectionTarget::Iscsi(IscsiConnection { targets, auth, discovery_auth: None, discard: true }),
            extra: BTreeMap::from([
                ("device_path".into(), types::Value::Text("/dev/x".into())),
                ("target_iqn".into(), types::Value::Number(1.0)),
            ]),
        };
        connection_info(&connection, "att", "vol", AccessMode::ReadOnly, None)
    }

    #[test]
    fn one_target_is_named_in_the_singular() {
        let info = iscsi_of(1, None);
        assert_eq!(info["driver_volume_type"], "iscsi");
        assert_eq!(info["data"]["target_iqn"], "iqn.x:0");
        assert_eq!(info["data"]["access_mode"], "ro");
        assert!(info["data"].get("target_iqns").is_none() && info["data"].get("auth_method").is_none());
    }

    #[test]
    fn several_targets_are_listed_beside_the_first() {
        let info = iscsi_of(2, Some(Chap { user: "u".into(), password: "p".into() }));
        assert_eq!(info["data"]["target_portals"], json!(["10.0.0.0:3260", "10.0.0.1:3260"]));
        assert_eq!((&info["data"]["auth_method"], &info["data"]["auth_password"]), (&json!("CHAP"), &json!("p")));
    }

    #[test]
    fn extras_stand_beside_but_never_in_place_of_what_the_target_says() {
        let info = iscsi_of(1, None);
        assert_eq!((&info["data"]["device_path"], &info["data"]["target_iqn"]), (&json!("/dev/x"), &json!("iqn.x:0")));
    }
}
