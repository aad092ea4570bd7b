//! Where a driver may make this machine connect for data: the portals of its array.
//!
//! What a driver names is refused unless the operator granted it: the hosts that the driver may call anyway
//! (`grants.http`), with whatever port, and what `grants.portals` lists beside them, for arrays that have networks of their
//! own for data. A network never covers this machine, its link or a cloud's metadata service: such an address has to be listed
//! itself. A listed name is the operator's word for wherever it leads.

use std::{net::IpAddr, str::FromStr};

use ipnet::IpNet;
use thiserror::Error;

use super::egress::{Authority, BadAuthority, Destination, restricted};

/// An entry of `grants.portals`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Portal {
    /// `host:port`, or `host` for each of its ports.
    Host(Destination, Option<u16>),
    /// `192.0.2.0/24`: each port of each address.
    Network(IpNet),
}

/// Why this machine does not connect.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refused {
    #[error("{0:?} is no host:port")]
    NoPortal(String),
    #[error("neither grants.portals has {0} nor grants.http its host")]
    NotGranted(Authority),
    #[error("{0} is {1}: grants.portals or grants.http must have the address itself")]
    Restricted(Authority, &'static str),
}

impl FromStr for Portal {
    type Err = BadAuthority;

    fn from_str(text: &str) -> Result<Self, BadAuthority> {
        if text.contains('/') {
            return text.parse().map(|net: IpNet| Self::Network(net.trunc())).map_err(|_| BadAuthority::Host(text.to_owned()));
        }
        let Authority { host, port } = text.parse()?;
        Ok(Self::Host(host, has_port(text).then_some(port)))
    }
}

/// An [`Authority`] without one is taken for that of https, which is nothing that a portal means.
fn has_port(text: &str) -> bool {
    text.contains(':') && !(text.starts_with('[') && text.ends_with(']'))
}

/// What one back end is granted.
#[derive(Debug, Clone, Default)]
pub struct Portals(Vec<Portal>);

impl Portals {
    /// Of `grants.http` and `grants.portals`. An entry that is none was refused when the configuration was read; it grants nothing.
    pub fn granted(http: &[String], portals: &[String]) -> Self {
        let called = http.iter().filter_map(|entry| entry.parse().ok()).map(|a: Authority| Portal::Host(a.host, None));
        Self(called.chain(portals.iter().filter_map(|entry| entry.parse().ok())).collect())
    }

    /// Whether this machine may connect to `portal`, `address:port`.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn check(&self, portal: &str) -> Result<(), Refused> {
        let parsed: Option<Authority> = portal.parse().ok().filter(|_| has_port(portal));
        let Some(authority) = parsed else { return Err(Refused::NoPortal(portal.to_owned())) };
        let Authority { host, port } = &authority;
        let itself = |entry: &Portal| matches!(entry, Portal::Host(h, p) if h == host && p.is_none_or(|p| p == *port));
        if self.0.iter().any(itself) {
            return Ok(());
        }
        let Destination::Address(address) = host else { return Err(Refused::NotGranted(authority)) };
        if let Some(what) = restricted(*address) {
            return Err(Refused::Restricted(authority, what));
        }
        let covers = |entry: &Portal| matches!(entry, Portal::Network(net) if net.contains::<&IpAddr>(address));
        if self.0.iter().any(covers) { Ok(()) } else { Err(Refused::NotGranted(authority)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(http: &[&str], portals: &[&str]) -> Portals {
        let owned = |list: &[&str]| list.iter().map(|e| (*e).to_owned()).collect::<Vec<_>>();
        for entry in portals {
            entry.parse::<Portal>().unwrap();
        }
        Portals::granted(&owned(http), &owned(portals))
    }

    #[test]
    fn without_a_grant_there_is_no_portal() {
        for portal in ["192.0.2.1:3260", "[2001:db8::1]:3260", "array.example:3260", "127.0.0.1:3260", "localhost:3260"] {
            assert!(granted(&[], &[]).check(portal).is_err(), "{portal}");
            assert!(granted(&["192.0.2.9:443"], &["198.51.100.0/24", "other.example"]).check(portal).is_err(), "{portal}");
        }
    }

    #[test]
    fn what_the_driver_may_call_it_may_name_with_any_port() {
        let grants = granted(&["192.0.2.1:443", "array.example", "[2001:db8::1]:8443", "127.0.0.1:8788"], &[]);
        for portal in ["192.0.2.1:3260", "array.example:3260", "ARRAY.example.:860", "[2001:db8::1]:3260", "127.0.0.1:3260"] {
            assert_eq!(grants.check(portal), Ok(()), "{portal}");
        }
        assert!(grants.check("192.0.2.2:3260").is_err());
    }

    #[test]
    fn each_form_of_an_entry_covers_what_it_says() {
        for (entry, covered, beside) in [
            ("192.0.2.1", "192.0.2.1:3261", "192.0.2.2:3260"),
            ("192.0.2.1:3260", "192.0.2.1:3260", "192.0.2.1:3261"),
            ("192.0.2.1/24", "192.0.2.200:860", "192.0.3.1:3260"),
            ("data.example", "data.example:3260", "other.data.example:3260"),
            ("data.example:3260", "data.example:3260", "data.example:22"),
            ("[2001:db8::1]", "[2001:db8::1]:3260", "[2001:db8::2]:3260"),
            ("[2001:db8::1]:3260", "[2001:db8:0::1]:3260", "[2001:db8::1]:22"),
            ("2001:db8::/64", "[2001:db8::ffff]:3260", "[2001:db8:1::1]:3260"),
            ("192.0.2.0/24", "[::ffff:192.0.2.7]:3260", "[2001:db8::1]:3260"),
        ] {
            assert_eq!(granted(&[], &[entry]).check(covered), Ok(()), "{entry}");
            assert!(granted(&[], &[entry]).check(beside).is_err(), "{entry}");
        }
    }

    #[test]
    fn a_network_covers_neither_this_machine_nor_its_link_nor_a_metadata_service() {
        let wide = granted(&[], &["0.0.0.0/0", "::/0"]);
        assert_eq!(wide.check("192.0.2.1:3260"), Ok(()));
        for own in ["127.0.0.1:3260", "169.254.169.254:80", "[::1]:3260", "[fe80::1]:3260", "[::ffff:127.0.0.1]:3260", "0.0.0.0:1"] {
            assert!(matches!(wide.check(own), Err(Refused::Restricted(..))), "{own}");
        }
        assert!(wide.check("localhost:3260").is_err(), "a name is not looked up");
        assert_eq!(granted(&[], &["127.0.0.1:3260"]).check("127.0.0.1:3260"), Ok(()));
    }

    #[test]
    fn what_is_no_portal_is_refused_whatever_is_granted() {
        let wide = granted(&["array.example"], &["0.0.0.0/0", "::/0"]);
        for odd in [
            "2130706433:3260",
            "192.0.2.1",
            "[2001:db8::1]",
            "array.example",
            "192.0.2.1:0",
            "192.0.2.1:x",
            "http://192.0.2.1:3260",
            "192.0.2.1:3260,5",
            "",
            "0x7f.1:3260",
        ] {
            assert!(wide.check(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn entries_that_mean_nothing_are_refused() {
        for odd in ["", "*", "192.0.2.0/33", "array.example/24", "http://array.example", "192.0.2.1:0", "user@array.example"] {
            assert!(odd.parse::<Portal>().is_err(), "{odd}");
        }
    }
}
