//! Reading what `tgtd` shows.
//!
//! The text is strict, and read strictly: an initiator that is logged in chooses its alias, which is printed in the middle of
//! it, line breaks included. Whatever it forges makes sections or targets appear twice or out of order, which is an error
//! here; the node then replaces the daemon instead of believing it.

use std::collections::BTreeMap;

/// Everything that is configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// By name.
    pub targets: BTreeMap<String, ShownTarget>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownTarget {
    pub tid: i32,
    pub ready: bool,
    /// Without LUN 0, the controller.
    pub luns: BTreeMap<u32, ShownLun>,
    pub accounts: Vec<String>,
    /// Initiator names.
    pub acl: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownLun {
    pub serial: String,
    /// As `tgtd` prints it.
    pub size: String,
    pub online: bool,
    pub read_only: bool,
    pub path: String,
}

/// How `tgtd` prints a size.
pub fn shown_size(bytes: u64) -> String {
    let sectors = bytes / 512;
    format!("{} MB", (sectors + 974).saturating_sub(sectors / 625) / 1950)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    System,
    Nexus,
    Luns,
    Accounts,
    Acl,
}

const SECTIONS: [(&str, Section); 5] = [
    ("    System information:", Section::System),
    ("    I_T nexus information:", Section::Nexus),
    ("    LUN information:", Section::Luns),
    ("    Account information:", Section::Accounts),
    ("    ACL information:", Section::Acl),
];

impl Shown {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut shown = Self::default();
        let mut target: Option<(String, ShownTarget, Option<Section>)> = None;
        let mut lun: Option<u32> = None;
        for line in text.lines() {
            let wrong = || format!("unexpected line {:?}", line.chars().take(80).collect::<String>());
            if let Some(rest) = line.strip_prefix("Target ") {
                shown.close(target.take())?;
                let (tid, name) = rest.split_once(": ").ok_or_else(wrong)?;
                target = Some((name.to_owned(), ShownTarget { tid: tid.parse().map_err(|_| wrong())?, ..ShownTarget::default() }, None));
                lun = None;
                continue;
            }
            let (_, target, section) = target.as_mut().ok_or_else(wrong)?;
            if let Some((_, next)) = SECTIONS.iter().find(|(title, _)| *title == line) {
                // each once, in this order
                let before = next.checked_before();
                if *section != before {
                    return Err(wrong());
                }
                *section = Some(*next);
                continue;
            }
            let inner = line.strip_prefix("        ").ok_or_else(wrong)?;
            match section {
                Some(Section::System) => {
                    if let Some(state) = inner.strip_prefix("State: ") {
                        target.ready = state == "ready";
                    }
                }
                Some(Section::Nexus) => {}
                Some(Section::Luns) => target.lun_line(inner, &mut lun).ok_or_else(wrong)?,
                Some(Section::Accounts) => target.accounts.push(inner.to_owned()),
                Some(Section::Acl) => target.acl.push(inner.to_owned()),
                None => return Err(wrong()),
            }
        }
        shown.close(target)?;
        Ok(shown)
    }

    fn close(&mut self, target: Option<(String, ShownTarget, Option<Section>)>) -> Result<(), String> {
        let Some((name, mut target, section)) = target else { return Ok(()) };
        if section != Some(Section::Acl) {
            return Err(format!("target {} has no end", target.tid));
        }
        if self.targets.values().any(|t| t.tid == target.tid) {
            return Err(format!("target {} twice", target.tid));
        }
        target.luns.remove(&0);
        match self.targets.insert(name, target) {
            None => Ok(()),
            Some(t) => Err(format!("the name of target {} twice", t.tid)),
        }
    }
}

impl Section {
    /// The section that comes before.
    fn checked_before(self) -> Option<Self> {
        let at = SECTIONS.iter().position(|(_, s)| *s == self)?;
        SECTIONS.get(at.checked_sub(1)?).map(|(_, s)| *s)
    }
}

impl ShownTarget {
    fn lun_line(&mut self, inner: &str, lun: &mut Option<u32>) -> Option<()> {
        if let Some(number) = inner.strip_prefix("LUN: ") {
            let number = number.parse().ok()?;
            if self.luns.insert(number, ShownLun::default()).is_some() {
                return None;
            }
            *lun = Some(number);
            return Some(());
        }
        let (key, value) =
            inner.strip_prefix("    ")?.split_once(": ").or_else(|| inner.trim_start().strip_suffix(':').map(|k| (k, "")))?;
        let lun = self.luns.get_mut(&(*lun)?)?;
        match key {
            "SCSI SN" => value.clone_into(&mut lun.serial),
            "Size" => value.split_once(',').map_or(value, |(size, _)| size).clone_into(&mut lun.size),
            "Online" => lun.online = value == "Yes",
            "Readonly" => lun.read_only = value == "Yes",
            "Backing store path" => value.clone_into(&mut lun.path),
            _ => {}
        }
        Some(())
    }
}

/// One connection of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Session {
    pub sid: u64,
    pub cid: u32,
}

impl Session {
    pub(super) fn parse(text: &str) -> Result<Vec<Self>, String> {
        let mut found = Vec::new();
        let mut sid = None;
        for line in text.lines() {
            if let Some(number) = line.strip_prefix("Session: ") {
                sid = Some(number.parse().map_err(|_| format!("session {number:?}"))?);
            } else if let Some(number) = line.strip_prefix("    Connection: ") {
                let (Some(sid), Ok(cid)) = (sid, number.parse()) else { return Err(format!("connection {number:?}")) };
                found.push(Self { sid, cid });
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(alias: &str) -> String {
        format!(
            "Target 1: iqn.x:v1\n    System information:\n        Driver: iscsi\n        State: ready\n    I_T nexus information:\n        \
             I_T nexus: 2\n            Initiator: iqn.a:b alias: {alias}\n            Connection: 0\n                IP Address: 127.0.0.1\n    \
             LUN information:\n        LUN: 0\n            Type: controller\n            Size: 0 MB, Block size: 1\n            Backing store flags: \n        \
             LUN: 1\n            Type: disk\n            SCSI SN: abc\n            Size: 1074 MB, Block size: 512\n            Online: Yes\n            \
             Readonly: No\n            Backing store path: /d/v1.img\n            Backing store flags: \n    Account information:\n        u1\n    \
             ACL information:\n        iqn.a:b\nTarget 7: iqn.x:v7\n    System information:\n        Driver: iscsi\n        State: offline\n    \
             I_T nexus information:\n    LUN information:\n        LUN: 0\n            Type: controller\n    Account information:\n    ACL information:\n"
        )
    }

    #[test]
    fn what_tgtd_prints_is_read() {
        let shown = Shown::parse(&text("none")).unwrap();
        let lun =
            ShownLun { serial: "abc".to_owned(), size: "1074 MB".to_owned(), online: true, read_only: false, path: "/d/v1.img".to_owned() };
        let v1 = ShownTarget {
            tid: 1,
            ready: true,
            luns: BTreeMap::from([(1, lun)]),
            accounts: vec!["u1".to_owned()],
            acl: vec!["iqn.a:b".to_owned()],
        };
        assert_eq!(shown.targets["iqn.x:v1"], v1);
        assert_eq!(shown.targets["iqn.x:v7"], ShownTarget { tid: 7, ..ShownTarget::default() });
        assert!(Shown::parse("").unwrap().targets.is_empty());
    }

    #[test]
    fn an_alias_cannot_forge_a_section_or_a_target_that_exists() {
        for forged in [
            "x\n    LUN information:\n        LUN: 5",
            "x\n    ACL information:\n        iqn.evil",
            "x\n    LUN information:\n    Account information:\n    ACL information:\nTarget 7: iqn.evil\n    System information:\n    I_T nexus information:",
            "x\n    LUN information:\n    Account information:\n    ACL information:\nTarget 9: iqn.x:v7\n    System information:\n    I_T nexus information:",
            "x\nTarget 9: iqn.y",
            "x\n",
            "x\nnonsense",
        ] {
            assert!(Shown::parse(&text(forged)).is_err(), "{forged:?}");
        }
    }

    #[test]
    fn sizes_are_told_apart_by_the_gib() {
        assert_eq!(shown_size(1 << 30), "1074 MB");
        assert_eq!(shown_size(2 << 30), "2147 MB");
    }

    #[test]
    fn connections_are_read() {
        let text =
            "Session: 2\n    Connection: 0\n        Initiator: iqn.a:b\n        IP Address: 127.0.0.1\nSession: 3\n    Connection: 1\n";
        assert_eq!(Session::parse(text).unwrap(), [Session { sid: 2, cid: 0 }, Session { sid: 3, cid: 1 }]);
    }
}
