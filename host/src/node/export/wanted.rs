//! From the records to what `tgtd` should hold.

use std::{collections::BTreeMap, sync::Arc};

use sha2::{Digest, Sha256};

use crate::node::{
    disk::{Disk, GIB, Of},
    name::{Initiator, Layout, Mode, ObjectId, digest},
    state::{Attachment, Records, Volume},
    tgt::LunParams,
};

/// Which target: whose, and in one of the layouts of which volume.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Volume(ObjectId, Initiator),
    Host(Initiator),
}

/// A target as it should be. Holds a secret: never log it.
#[derive(Clone)]
pub(super) struct Wanted {
    pub name: String,
    pub tid: i32,
    pub initiator: Initiator,
    pub user: String,
    pub password: String,
    pub luns: BTreeMap<u32, WantedLun>,
}

impl std::fmt::Debug for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wanted").field("name", &self.name).field("tid", &self.tid).field("luns", &self.luns).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WantedLun {
    pub params: LunParams,
    pub bytes: u64,
}

impl Key {
    /// The target that shows `volume` to `initiator`.
    pub fn of(volume: &Volume, initiator: &Initiator) -> Self {
        match volume.layout {
            Layout::TargetPerVolume => Self::Volume(volume.id.clone(), initiator.clone()),
            Layout::TargetPerInitiator => Self::Host(initiator.clone()),
        }
    }

    /// The target's iSCSI name: letters, digits, `.`, `:` and `-` only.
    pub fn name(&self, prefix: &str) -> String {
        match self {
            Self::Volume(id, initiator) => format!("{prefix}:vol.{}:{}", id.in_target_name(), digest(initiator.as_str(), 16)),
            Self::Host(initiator) => format!("{prefix}:host.{}", digest(initiator.as_str(), 24)),
        }
    }

    /// None: the target should not be.
    pub(super) fn wanted(&self, records: &Records, disk: &Disk) -> Option<Wanted> {
        let shown = self.shown(records);
        let (_, first) = shown.first()?;
        let prefix = format!("iqn.2026-01.dev.stowage:{}", records.node_id);
        let name = self.name(&prefix);
        Some(Wanted {
            tid: tid_of(&name),
            name,
            initiator: self.initiator().clone(),
            user: first.username.clone(),
            password: first.password.clone(),
            luns: shown.iter().map(|(volume, a)| (a.lun, lun(disk, volume, a))).collect(),
        })
    }

    pub fn initiator(&self) -> &Initiator {
        match self {
            Self::Volume(_, initiator) | Self::Host(initiator) => initiator,
        }
    }

    /// The volumes the target shows, with what each is shown as.
    pub fn shown(&self, records: &Records) -> Vec<(Arc<Volume>, Attachment)> {
        let volumes = match self {
            Self::Volume(id, _) => records.volumes.get(id).into_iter().collect(),
            Self::Host(initiator) => {
                records.volumes.page(None, usize::MAX, |v| v.layout == Layout::TargetPerInitiator && v.attachments.contains_key(initiator))
            }
        };
        let shown = |v: Arc<Volume>| {
            let attachment = v.attachments.get(self.initiator()).filter(|a| !a.leaving)?.clone();
            (v.is_live() && Self::of(&v, self.initiator()) == *self).then_some((v, attachment))
        };
        volumes.into_iter().filter_map(shown).collect()
    }
}

fn lun(disk: &Disk, volume: &Volume, attachment: &Attachment) -> WantedLun {
    let params = LunParams { path: disk.file(Of::Volume, &volume.id), serial: volume.id.serial(), read_only: attachment.mode == Mode::Ro };
    WantedLun { params, bytes: volume.size_gib * GIB }
}

/// A target's number goes into the world-wide name of its LUNs, which must not change when `tgtd` is started again, and must
/// not be the same on another node: else a host with both would take two disks for two paths to one.
fn tid_of(name: &str) -> i32 {
    let hash = Sha256::digest(name.as_bytes());
    let number = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]) >> 1;
    i32::try_from(number).unwrap_or(1).clamp(1, i32::MAX - 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_different_initiators_and_volumes_have_different_names_and_numbers() {
        let (a, b) = (Initiator::parse("iqn.x:a").unwrap(), Initiator::parse("iqn.x:b").unwrap());
        let (v, w) = (ObjectId::parse("v").unwrap(), ObjectId::parse("V").unwrap());
        let keys = [Key::Volume(v.clone(), a.clone()), Key::Volume(v, b.clone()), Key::Volume(w, a.clone()), Key::Host(a), Key::Host(b)];
        let names: std::collections::BTreeSet<String> = keys.iter().map(|k| k.name("iqn.p")).collect();
        assert_eq!(names.len(), keys.len());
        assert!(names.iter().all(|n| n.bytes().all(|b| b.is_ascii_alphanumeric() || b".:-".contains(&b))));
        assert_eq!(names.iter().map(|n| tid_of(n)).collect::<std::collections::BTreeSet<_>>().len(), keys.len());
    }
}
