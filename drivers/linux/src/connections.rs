//! How hosts reach a volume: one attachment on the node for each connection, which is a (volume, initiator): however many
//! attachments come by that initiator, and however many initiators a host has. The node changes the mode of one in use.
//!
//! CHAP is not optional: an answer without credentials is refused rather than passed on. With `multipath` in the connector
//! all portals are given, else the preferred one.

use stowage_driver_sdk::{
    prelude::*,
    serde_json::{Value as Json, json},
};

use crate::{Linux, names, wire};

/// The node's limit for the host's name, which is for people only.
const LONGEST_HOST: usize = 255;
/// More portals than anybody uses are left out: the host takes no connection with more.
const MOST_PORTALS: usize = 64;

fn initiator(connector: &Connector) -> Result<&str> {
    let name = connector.initiator.as_deref().filter(|name| !name.is_empty()).ok_or_else(|| {
        DriverError::invalid("the connector lacks `initiator`: the host's iSCSI name").for_user("The connector lacks initiator.")
    })?;
    names::initiator(name)
}

/// What the node shows and logs of the host; what it would refuse is left out.
fn described(mode: AccessMode, connector: &Connector) -> Json {
    let mut body = json!({ "mode": if mode == AccessMode::ReadOnly { "ro" } else { "rw" } });
    let host = shown(&connector.host);
    if !host.is_empty() {
        body["host"] = json!(host);
    }
    if let Some(ip) = connector.ip.as_deref().filter(|ip| ip.parse::<std::net::IpAddr>().is_ok()) {
        body["ip"] = json!(ip);
    }
    body
}

/// A host's name as the node keeps it.
fn shown(host: &str) -> String {
    host.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(LONGEST_HOST).collect()
}

/// `address:port`; IPv6 in brackets.
fn is_portal(text: &str) -> bool {
    let Some((address, port)) = text.rsplit_once(':') else { return false };
    let inner = address.strip_prefix('[').and_then(|a| a.strip_suffix(']'));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let named = inner.map_or_else(|| !address.is_empty() && address.chars().all(plain), |a| a.parse::<std::net::Ipv6Addr>().is_ok());
    named && port.parse::<u16>().is_ok_and(|port| port != 0)
}

fn connection(answer: wire::Connection, multipath: bool) -> Result<Connection> {
    let wire::Connection { protocol, portals, iqn, lun, auth, discard } = answer;
    if protocol != "iscsi" || iqn.is_empty() {
        return Err(wire::unusable(format!("a connection by {protocol:?} to {iqn:?}")));
    }
    if auth.method != "CHAP" || auth.username.is_empty() || auth.password.is_empty() {
        return Err(wire::unusable(format!("a connection without CHAP (method {:?})", auth.method)));
    }
    if let Some(odd) = portals.iter().find(|portal| !is_portal(portal)) {
        return Err(wire::unusable(format!("{odd:?} is no portal")));
    }
    let wanted = if multipath { MOST_PORTALS } else { 1 };
    let targets: Vec<_> = portals.into_iter().take(wanted).map(|portal| IscsiTarget { portal, iqn: iqn.clone(), lun }).collect();
    if targets.is_empty() {
        return Err(wire::unusable("a connection without a portal"));
    }
    let auth = Some(Chap { user: auth.username, password: auth.password });
    Ok(Connection::new(ConnectionTarget::Iscsi(IscsiConnection { targets, auth, discovery_auth: None, discard })))
}

impl Linux {
    /// A connector without an initiator, as old clients send at the end: what its host has is found by the host's name.
    fn disconnect_host(&self, cx: &Context, volume: &Volume, host: &str) -> Result<()> {
        let node = self.node(cx, &volume.pool)?;
        let page: wire::AttachmentPage = match node.get(&names::attachments(&volume.id)?) {
            Err(e) if e.kind == ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        let host = shown(host);
        for attached in page.attachments.iter().filter(|a| a.host.as_deref() == Some(host.as_str())) {
            node.delete(&names::attachment(&volume.id, names::initiator(&attached.initiator)?)?)?;
        }
        Ok(())
    }
}

impl ConnectionInfo for Linux {
    fn validate_connector(&self, _: &Context, connector: &Connector) -> Result<()> {
        initiator(connector).map(drop)
    }

    fn connect(&self, cx: &Context, volume: &Volume, _: &str, mode: AccessMode, connector: &Connector) -> Result<Connection> {
        let initiator = initiator(connector)?;
        let path = names::attachment(&volume.id, initiator)?;
        let attached: wire::Attachment = self.node(cx, &volume.pool)?.put(&path, &described(mode, connector))?;
        if attached.volume != volume.id || attached.initiator != initiator {
            return Err(wire::unusable(format!("it is about volume {:?} for {:?}", attached.volume, attached.initiator)));
        }
        connection(attached.connection, connector.multipath)
    }

    fn disconnect(&self, cx: &Context, volume: &Volume, target: &DisconnectTarget) -> Result<()> {
        match target {
            DisconnectTarget::All => self.node(cx, &volume.pool)?.delete(&names::attachments(&volume.id)?),
            DisconnectTarget::Connector(connector) if connector.initiator.as_deref().is_none_or(str::is_empty) => {
                self.disconnect_host(cx, volume, &connector.host)
            }
            DisconnectTarget::Connector(connector) => match initiator(connector) {
                Ok(initiator) => self.node(cx, &volume.pool)?.delete(&names::attachment(&volume.id, initiator)?),
                // the node takes no such name: it never was connected
                Err(_) => Ok(()),
            },
        }
    }

    fn ensure_export(&self, cx: &Context, volume: &Volume) -> Result<()> {
        let path = format!("{}/ensure", names::volume(&volume.id)?);
        let ensured: wire::Volume = self.node(cx, &volume.pool)?.post(&path, None)?;
        ensured.checked(&volume.id, 1).map(drop)
    }
}
