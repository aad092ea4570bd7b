//! Who may mount a share: the states of a rule, and what a rule's target may be.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};
use thiserror::Error;

use super::text_enum;

text_enum! {
    /// `state` of a rule.
    pub enum AccessState {
        QueuedToApply = "queued_to_apply",
        Applying = "applying",
        Active = "active",
        QueuedToUpdate = "queued_to_update",
        Updating = "updating",
        QueuedToDeny = "queued_to_deny",
        Denying = "denying",
        Error = "error",
    }
}

text_enum! {
    /// `access_type` of a rule.
    pub enum AccessType {
        Ip = "ip",
        User = "user",
        Cert = "cert",
        Cephx = "cephx",
    }
}

text_enum! {
    /// `access_level` of a rule.
    pub enum AccessLevel {
        ReadWrite = "rw",
        ReadOnly = "ro",
    }
}

impl AccessState {
    /// Whether its driver has still to be asked.
    pub const fn waits(self) -> bool {
        self.begun().is_some()
    }

    /// The state it has while the driver is asked; none for one that waits for nothing.
    pub const fn begun(self) -> Option<Self> {
        match self {
            Self::QueuedToApply | Self::Applying => Some(Self::Applying),
            Self::QueuedToUpdate | Self::Updating => Some(Self::Updating),
            Self::QueuedToDeny | Self::Denying => Some(Self::Denying),
            Self::Active | Self::Error => None,
        }
    }
}

/// Why a target is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TargetError {
    #[error("'{0:.64}' does not appear to be an IPv4 or IPv6 network")]
    NotANetwork(String),
    #[error("Only IPv4 addresses and networks are taken before 2.38, not '{0:.64}'")]
    Ipv6TooEarly(String),
    #[error(
        "Invalid user or group name. Must be 4-255 characters and consist of alphanumeric characters and exclude special characters \"/\\[]:;|=,+*?<>"
    )]
    User,
    #[error("Invalid user or group name, cannot consist solely of periods or spaces.")]
    OnlyDotsAndBlanks,
    #[error("Invalid CN (common name). Must be 1-64 chars long.")]
    CommonName,
    #[error("Ceph IDs may not be empty.")]
    CephxEmpty,
    #[error("Ceph IDs must consist of ASCII printable characters.")]
    CephxAlphabet,
    #[error("Ceph IDs may not contain periods.")]
    CephxPeriod,
    #[error("{0:.40} is not a target of at most 255 characters that can be stored.")]
    Unstorable(String),
}

/// Checks a rule's target. `ipv6` says whether IPv6 is taken (2.38).
///
/// # Errors
/// [`TargetError`].
pub fn check(kind: AccessType, to: &str, ipv6: bool) -> Result<(), TargetError> {
    // drivers write targets into files of exports, line by line
    if to.chars().count() > 255 || to.chars().any(char::is_control) {
        return Err(match kind {
            AccessType::User => TargetError::User,
            _ => TargetError::Unstorable(to.to_owned()),
        });
    }
    match kind {
        AccessType::Ip => match network(to) {
            None => Err(TargetError::NotANetwork(to.to_owned())),
            Some(IpNet::V6(_)) if !ipv6 => Err(TargetError::Ipv6TooEarly(to.to_owned())),
            Some(_) => Ok(()),
        },
        AccessType::User => user(to),
        AccessType::Cert if (1..=64).contains(&to.trim().chars().count()) => Ok(()),
        AccessType::Cert => Err(TargetError::CommonName),
        AccessType::Cephx => cephx(to),
    }
}

/// The network that an address or a CIDR text means; an address alone is a network of one. Host bits must be zero.
pub fn network(text: &str) -> Option<IpNet> {
    let net = match text.split_once('/') {
        None => IpNet::from(text.parse::<IpAddr>().ok()?),
        Some((address, mask)) => match text.parse::<IpNet>() {
            Ok(net) => net,
            // 10.0.0.0/255.255.255.0
            Err(_) => IpNet::V4(Ipv4Net::with_netmask(address.parse().ok()?, mask.parse().ok()?).ok()?),
        },
    };
    (net.trunc() == net).then_some(net)
}

/// Whether two targets of one kind are the same one: `10.0.0.1` and `10.0.0.1/32` are.
pub fn same(kind: &str, a: &str, b: &str) -> bool {
    a == b || (kind == AccessType::Ip.as_str() && network(a).is_some_and(|net| network(b) == Some(net)))
}

fn user(name: &str) -> Result<(), TargetError> {
    if !name.is_empty() && name.chars().all(|c| c == '.' || c == '|' || c.is_whitespace()) {
        return Err(TargetError::OnlyDotsAndBlanks);
    }
    // the first character may be any
    let rest_is_plain = name.chars().skip(1).all(|c| !r#""/\[]:;|=,+*?<>"#.contains(c));
    if rest_is_plain && (4..=255).contains(&name.chars().count()) { Ok(()) } else { Err(TargetError::User) }
}

fn cephx(id: &str) -> Result<(), TargetError> {
    if id.is_empty() {
        Err(TargetError::CephxEmpty)
    } else if !id.bytes().all(|b| b.is_ascii_graphic() || b == b' ') {
        Err(TargetError::CephxAlphabet)
    } else if id.contains('.') {
        Err(TargetError::CephxPeriod)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_is_told_by_its_own_words() {
        assert_eq!(AccessType::WORDS, "ip, user, cert, cephx");
        assert_eq!(AccessLevel::WORDS.split(", ").map(AccessLevel::parse).collect::<Option<Vec<_>>>().as_deref(), Some(AccessLevel::ALL));
    }

    #[test]
    fn addresses_and_networks_are_taken_and_nothing_like_them() {
        for good in ["1.2.3.4", "10.0.0.0/8", "1.2.3.4/32", "0.0.0.0/0", "10.1.0.0/255.255.0.0", "2001:db8::1", "fd00::/8"] {
            assert_eq!(check(AccessType::Ip, good, true), Ok(()), "{good}");
        }
        for bad in [
            "1.2.3.256",
            "1.1.1.-",
            "1.2.3.4/33",
            "1.2.3.*",
            "1.2.3.*/23",
            "1.2.3.1|23",
            "1.2.3.1/-1",
            "1.2.3.1/",
            "",
            " 1.2.3.4",
            "ad80::abaa:0:c2:2/-3",
            "AD80:ABAA::|26",
            "2001:DB8:2de:0:0:0:0:e13:200a",
            "1.2.3.4/8",
        ] {
            assert!(check(AccessType::Ip, bad, true).is_err(), "{bad}");
        }
        assert_eq!(check(AccessType::Ip, "::1", false), Err(TargetError::Ipv6TooEarly("::1".into())));
    }

    #[test]
    fn an_address_and_its_network_of_one_are_the_same_target() {
        assert!(same("ip", "10.0.0.1", "10.0.0.1/32") && same("ip", "fd00::1/128", "fd00::1"));
        assert!(!same("ip", "10.0.0.0/8", "10.0.0.0/16") && !same("user", "10.0.0.1", "10.0.0.1/32"));
        assert!(same("user", "alice", "alice"));
    }

    #[test]
    fn users_have_four_to_255_plain_characters() {
        for good in ["anna", "Domain", "user-1_x.y$ {z}", &"u".repeat(255)] {
            assert_eq!(check(AccessType::User, good, true), Ok(()), "{good}");
        }
        for bad in ["", "abc", "try+", "a/bcd", "....", " . .", &"u".repeat(256)] {
            assert!(check(AccessType::User, bad, true).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_target_has_characters_that_end_a_line_or_a_text() {
        for control in ['\n', '\r', '\0', '\t', '\u{1b}', '\u{7f}', '\u{85}'] {
            for kind in [AccessType::Ip, AccessType::User, AccessType::Cert, AccessType::Cephx] {
                for target in [format!("{control}anna"), format!("an{control}na"), format!("10.0.0.1{control}")] {
                    assert!(check(kind, &target, true).is_err(), "{kind} {target:?}");
                }
            }
        }
    }

    #[test]
    fn a_common_name_has_up_to_64_characters() {
        assert_eq!(check(AccessType::Cert, &"c".repeat(64), true), Ok(()));
        for bad in ["", "  ", &"c".repeat(65)] {
            assert_eq!(check(AccessType::Cert, bad, true), Err(TargetError::CommonName), "{bad}");
        }
    }

    #[test]
    fn a_ceph_id_is_printable_ascii_without_periods() {
        assert_eq!(check(AccessType::Cephx, "david", true), Ok(()));
        for bad in ["", "jane.doe", "bj\u{f6}rn", "a\tb"] {
            assert!(check(AccessType::Cephx, bad, true).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_waits_has_a_state_while_it_is_done() {
        assert_eq!(AccessState::QueuedToDeny.begun(), Some(AccessState::Denying));
        assert_eq!((AccessState::Active.begun(), AccessState::Error.begun()), (None, None));
    }
}
