//! IP versions: nobody is let in by an address of a family that the back end does not serve. The driver would refuse such a rule
//! later, or never say so.

use crate::{
    app::App,
    domain::{host::backend_of, share_access::AccessType},
    driver::types::IpVersion,
    error::{Error, Result},
};

/// The back end of `host` serves clients like `to`, as far as its driver says whom it serves.
///
/// # Errors
/// 400.
pub(in crate::service) fn check(app: &App, host: Option<&str>, kind: AccessType, to: &str) -> Result<()> {
    if kind != AccessType::Ip {
        return Ok(());
    }
    let Some(report) = host.and_then(|host| app.drivers.backend(backend_of(host)).ok()).and_then(|backend| backend.capabilities()) else {
        return Ok(());
    };
    match missing(&report.report.features.ip_versions, to) {
        Some(family) => {
            Err(Error::invalid(format!("Invalid access rule: the storage back end serves no {family} clients, and {to:.64} is one.")))
        }
        None => Ok(()),
    }
}

/// The family of an address or a network that `served` lacks. A driver that says nothing serves all.
fn missing(served: &[IpVersion], to: &str) -> Option<&'static str> {
    let (version, name) = if to.contains(':') { (IpVersion::V6, "IPv6") } else { (IpVersion::V4, "IPv4") };
    (!served.is_empty() && !served.contains(&version)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_driver_says_it_lacks_is_missing() {
        for (served, four, six) in [
            (&[][..], None, None),
            (&[IpVersion::V4], None, Some("IPv6")),
            (&[IpVersion::V6], Some("IPv4"), None),
            (&[IpVersion::V4, IpVersion::V6], None, None),
        ] {
            for (to, expected) in [("10.0.0.1", four), ("0.0.0.0/0", four), ("2001:db8::1", six), ("::/0", six)] {
                assert_eq!(missing(served, to), expected, "{served:?} {to}");
            }
        }
    }
}
