//! Which attachments share a connection, and in which mode it is.
//!
//! The back end's side of a connection is one for each volume and **name**: what the protocol tells consumers apart by. That
//! is the iSCSI initiator, the NVMe name of the host, each port of Fibre Channel; where the protocol knows no such name (RBD,
//! NFS, others), or a connector lacks it, the connector's host. Drivers are told the same (`connection-info` in `wit/`), so
//! that what the host does not end is not ended, and the other way round. By which name a connection goes is known from the
//! connection itself, so the question is always asked of one that lives: would ending this end take something from it?
//!
//! The connection has the widest mode of the attachments that live on it; what each of them may do stands in its own
//! `access_mode`, to which its consumer keeps.

use serde::Deserialize;

use super::connector::{parse_text, ports};
use crate::{
    domain::attachment::AttachMode,
    driver::types::{AccessMode, Connector},
    store::sql::attachments::AttachmentRow,
};

/// What a protocol tells consumers apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    Initiator,
    Nqn,
    Ports,
    Host,
}

impl Name {
    /// By the connection's `driver_volume_type`.
    pub fn of(driver_volume_type: &str) -> Self {
        match driver_volume_type {
            "iscsi" => Self::Initiator,
            "nvmeof" => Self::Nqn,
            "fibre_channel" => Self::Ports,
            _ => Self::Host,
        }
    }
}

/// A connection that an attachment lives on.
#[derive(Debug, Clone)]
pub struct Living {
    pub attachment_id: String,
    pub connector: Connector,
    pub mode: AccessMode,
    name: Name,
}

impl Living {
    /// None: it has no connection.
    pub fn of(attachment: &AttachmentRow) -> Option<Self> {
        #[derive(Deserialize)]
        struct Kind {
            driver_volume_type: String,
        }
        let kind: Kind = serde_json::from_str(attachment.connection_info.as_deref()?).ok()?;
        Some(Self {
            attachment_id: attachment.id.clone(),
            connector: attachment.connector.as_deref().and_then(parse_text)?,
            mode: access_mode(&attachment.mode),
            name: Name::of(&kind.driver_volume_type),
        })
    }

    /// Whether it lives on anything that `end` names.
    pub fn is_on(&self, end: &Connector) -> bool {
        self.leaves(end).as_ref() != Some(end)
    }

    /// What of `end` it does not live on; none when that is nothing.
    fn leaves(&self, end: &Connector) -> Option<Connector> {
        let mine = &self.connector;
        let same = match self.name {
            Name::Initiator => same_name(&mine.initiator, &end.initiator),
            Name::Nqn => same_name(&mine.nqn, &end.nqn),
            Name::Ports if !mine.wwpns.is_empty() && !end.wwpns.is_empty() => {
                let mine = ports(mine);
                let left: Vec<_> = end.wwpns.iter().filter(|port| !mine.contains(&port.to_ascii_lowercase())).cloned().collect();
                return (!left.is_empty()).then(|| Connector { wwpns: left, ..end.clone() });
            }
            Name::Ports | Name::Host => None,
        };
        // a nameless end may be any of its host's
        let same = same.unwrap_or(mine.host == end.host);
        (!same).then(|| end.clone())
    }
}

/// None: one of them has none.
fn same_name(a: &Option<String>, b: &Option<String>) -> Option<bool> {
    let named = |name: &'_ &String| !name.is_empty();
    Some(a.as_ref().filter(named)? == b.as_ref().filter(named)?)
}

/// What is left of an end when nobody who lives on it may lose anything.
#[derive(Debug, Default)]
pub struct Share {
    /// What nobody lives on.
    pub free: Option<Connector>,
    /// Who lives on the rest: one with the widest mode that any of them has.
    pub stays: Option<Living>,
}

/// Of those who live on the volume.
pub fn share(living: impl IntoIterator<Item = Living>, end: &Connector) -> Share {
    let mut share = Share { free: Some(end.clone()), stays: None };
    for one in living.into_iter().filter(|one| one.is_on(end)) {
        share.free = share.free.and_then(|free| one.leaves(&free));
        if share.stays.as_ref().is_none_or(|stays| wider(stays.mode, one.mode) != stays.mode) {
            share.stays = Some(one);
        }
    }
    share
}

impl Share {
    /// The mode of a connection that another attachment of `mode` lives on, too.
    pub fn with(&self, mode: AccessMode) -> AccessMode {
        self.stays.as_ref().map_or(mode, |stays| wider(stays.mode, mode))
    }

    /// Whether nothing is to be done when one of `mode` has gone.
    pub fn stays_as_it_is(&self, mode: AccessMode) -> bool {
        self.free.is_none() && self.narrowed_by(mode).is_none()
    }

    /// Who is left with more than is theirs when one of `mode` has gone.
    pub fn narrowed_by(&self, mode: AccessMode) -> Option<&Living> {
        self.stays.as_ref().filter(|stays| wider(stays.mode, mode) != stays.mode)
    }
}

fn wider(a: AccessMode, b: AccessMode) -> AccessMode {
    if a == AccessMode::ReadWrite || b == AccessMode::ReadWrite { AccessMode::ReadWrite } else { AccessMode::ReadOnly }
}

/// The driver's word for a mode. What is unset counts as read and write.
pub fn access_mode(word: &str) -> AccessMode {
    if word == AttachMode::ReadOnly.as_str() { AccessMode::ReadOnly } else { AccessMode::ReadWrite }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn living(name: Name, mode: AccessMode, connector: Connector) -> Living {
        Living { attachment_id: connector.host.clone(), connector, mode, name }
    }

    fn rw(name: Name, connector: Connector) -> Living {
        living(name, AccessMode::ReadWrite, connector)
    }

    fn end(host: &str, initiator: &str, nqn: &str, wwpns: &[&str]) -> Connector {
        let name = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Connector {
            host: host.into(),
            initiator: name(initiator),
            nqn: name(nqn),
            wwpns: wwpns.iter().map(|w| (*w).to_owned()).collect(),
            ..Connector::default()
        }
    }

    #[test]
    fn a_connection_goes_by_what_its_protocol_tells_consumers_apart_by() {
        for (kind, name) in [
            ("iscsi", Name::Initiator),
            ("nvmeof", Name::Nqn),
            ("fibre_channel", Name::Ports),
            ("rbd", Name::Host),
            ("nfs", Name::Host),
            ("vendors_own", Name::Host),
        ] {
            assert_eq!(Name::of(kind), name, "{kind}");
        }
    }

    #[test]
    fn one_end_is_another_by_that_name_and_by_nothing_else() {
        let a = end("h", "iqn.a", "nqn.a", &[]);
        let cases = [
            // another initiator of the host, which has the same other names
            (Name::Initiator, end("h", "iqn.b", "nqn.a", &[]), false),
            (Name::Nqn, end("h", "iqn.a", "nqn.b", &[]), false),
            // the same initiator under another name of its host
            (Name::Initiator, end("h.example.org", "iqn.a", "", &[]), true),
            (Name::Nqn, end("h.example.org", "iqn.b", "nqn.a", &[]), true),
            // where names are not what counts
            (Name::Host, end("h", "iqn.b", "nqn.b", &[]), true),
            (Name::Host, end("i", "iqn.a", "nqn.a", &[]), false),
            // a nameless one may be any of its host's
            (Name::Initiator, end("h", "", "nqn.b", &[]), true),
            (Name::Initiator, end("i", "", "nqn.a", &[]), false),
        ];
        for (name, other, same) in cases {
            assert_eq!(rw(name, a.clone()).is_on(&other), same, "{name:?} {other:?}");
        }
        let empty = Connector { initiator: Some(String::new()), ..end("h", "", "", &[]) };
        assert!(rw(Name::Initiator, a).is_on(&empty), "an empty name is none");
    }

    #[test]
    fn of_several_ports_those_end_that_nobody_lives_on() {
        let free = |lives: &[&[&str]], ports: &[&str]| {
            let lives = lives.iter().map(|ports| rw(Name::Ports, end("h", "iqn.a", "", ports)));
            share(lives, &end("h", "iqn.a", "", ports)).free.map(|c| c.wwpns)
        };
        assert_eq!(free(&[], &["1", "2"]).unwrap(), ["1", "2"]);
        assert_eq!(free(&[&["AA"]], &["aa", "bb"]).unwrap(), ["bb"]);
        assert_eq!(free(&[&["1"], &["2"]], &["1", "2"]), None);
        assert_eq!(free(&[&["3"]], &["1", "2"]).unwrap(), ["1", "2"]);
        assert_eq!(free(&[&["1"]], &[]), None, "the host's, whichever they are");
    }

    #[test]
    fn a_connection_has_the_widest_mode_of_those_who_live_on_it() {
        use AccessMode::{ReadOnly as Ro, ReadWrite as Rw};
        let at = end("h", "iqn.a", "", &[]);
        let of = |modes: &[AccessMode]| share(modes.iter().map(|m| living(Name::Initiator, *m, at.clone())), &at);
        for (lives, joins, is) in
            [(&[][..], Ro, Ro), (&[], Rw, Rw), (&[Ro], Ro, Ro), (&[Ro], Rw, Rw), (&[Ro, Rw], Ro, Rw), (&[Rw, Ro, Ro], Rw, Rw)]
        {
            assert_eq!(of(lives).with(joins), is, "{lives:?} and {joins:?}");
        }
        for (lives, leaves, narrowed) in
            [(&[][..], Rw, false), (&[Ro], Rw, true), (&[Ro], Ro, false), (&[Rw], Rw, false), (&[Ro, Rw], Rw, false), (&[Ro, Ro], Rw, true)]
        {
            assert_eq!(of(lives).narrowed_by(leaves).is_some(), narrowed, "{lives:?} without {leaves:?}");
        }
    }

    #[test]
    fn whoever_lives_on_another_end_has_no_say_in_it() {
        let (a, b) = (end("h", "iqn.a", "", &[]), end("h", "iqn.b", "", &[]));
        let share = share([rw(Name::Initiator, b)], &a);
        assert_eq!((share.free, share.stays.is_none()), (Some(a), true));
    }
}
