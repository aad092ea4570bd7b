//! The two ends of a copy: who this service is to a back end, and what it needs of the answer.

use super::CopyError;
use crate::driver::{
    portals::Portals,
    types::{Connection, ConnectionTarget, Connector, IscsiConnection},
};

/// Who connects: this service, for one run of one job. No two runs have the same name, so ending an earlier run's
/// connections leaves nothing in the hands of what that run may have left behind.
pub fn connector(run: &str) -> Connector {
    Connector {
        host: format!("stowage-copy-{run}"),
        initiator: Some(initiator(run)),
        os_type: Some("linux".to_owned()),
        platform: Some(std::env::consts::ARCH.to_owned()),
        ..Connector::default()
    }
}

/// The run's iSCSI name.
fn initiator(run: &str) -> String {
    format!("iqn.2026-11.io.stowage:copy.{run}")
}

/// The connection, with another of its portals in front each time: what could not be reached by one may be by the next.
pub fn by_portal(mut connection: Connection, nth: u32) -> Connection {
    if let ConnectionTarget::Iscsi(iscsi) = &mut connection.target {
        let most = iscsi.targets.len().max(1);
        iscsi.targets.rotate_left(usize::try_from(nth).unwrap_or(0) % most);
    }
    connection
}

/// The connection, if this service can reach it.
///
/// # Errors
/// [`CopyError::Protocol`], [`CopyError::Connection`].
pub fn iscsi(connection: &Connection) -> Result<&IscsiConnection, CopyError> {
    let iscsi = match &connection.target {
        ConnectionTarget::Iscsi(iscsi) => iscsi,
        ConnectionTarget::FibreChannel(_) => return Err(CopyError::Protocol("Fibre Channel".to_owned())),
        ConnectionTarget::NvmeOf(_) => return Err(CopyError::Protocol("NVMe-oF".to_owned())),
        ConnectionTarget::Rbd(_) => return Err(CopyError::Protocol("RBD".to_owned())),
        ConnectionTarget::Nfs(_) => return Err(CopyError::Protocol("NFS".to_owned())),
        ConnectionTarget::Other { driver_volume_type } => return Err(CopyError::Protocol(driver_volume_type.clone())),
    };
    let Some(target) = iscsi.targets.first() else { return Err(CopyError::Connection("it has no target".to_owned())) };
    let user = iscsi.auth.as_ref().map_or("", |a| a.user.as_str());
    if [target.portal.as_str(), target.iqn.as_str(), user].iter().any(|text| text.chars().any(char::is_control)) {
        return Err(CopyError::Connection("its target or user is no text".to_owned()));
    }
    Ok(iscsi)
}

/// Whether this service may go where the connection says.
///
/// # Errors
/// [`CopyError::Portal`].
pub fn permitted(connection: &Connection, granted: &Portals) -> Result<(), CopyError> {
    let ConnectionTarget::Iscsi(iscsi) = &connection.target else { return Ok(()) };
    iscsi.targets.iter().try_for_each(|t| granted.check(&t.portal)).map_err(CopyError::Portal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::types::IscsiTarget;

    #[test]
    fn every_run_is_another_host() {
        let (a, b) = (connector("j.1"), connector("j.2"));
        assert!(a.host != b.host && a.initiator != b.initiator);
        assert!(a.initiator.unwrap().len() <= 223);
    }

    #[test]
    fn the_portals_of_a_back_end_take_turns() {
        let target = |n: u32| IscsiTarget { portal: format!("192.0.2.{n}:3260"), iqn: "iqn.a".to_owned(), lun: 1 };
        let with = |targets| {
            let iscsi = IscsiConnection { targets, auth: None, discovery_auth: None, discard: false };
            Connection { target: ConnectionTarget::Iscsi(iscsi), extra: Default::default() }
        };
        let first = |nth| iscsi(&by_portal(with(vec![target(1), target(2)]), nth)).unwrap().targets[0].portal.clone();
        assert_eq!([first(0), first(1), first(2)], ["192.0.2.1:3260", "192.0.2.2:3260", "192.0.2.1:3260"]);
        assert!(iscsi(&by_portal(with(vec![]), 1)).is_err());
    }

    #[test]
    fn what_cannot_be_reached_is_named() {
        let nfs = ConnectionTarget::Other { driver_volume_type: "sheepdog".to_owned() };
        let error = iscsi(&Connection { target: nfs, extra: Default::default() }).unwrap_err();
        assert!(error.to_string().contains("sheepdog"), "{error}");
    }
}
