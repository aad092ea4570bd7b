//! A volume's states, and from which of them each verb may start.

use super::text_enum;

text_enum! {
    /// `status` of a volume.
    pub enum VolumeStatus {
        Creating = "creating",
        Available = "available",
        Reserved = "reserved",
        Attaching = "attaching",
        InUse = "in-use",
        Detaching = "detaching",
        Maintenance = "maintenance",
        Deleting = "deleting",
        Error = "error",
        ErrorDeleting = "error_deleting",
        ErrorExtending = "error_extending",
        ErrorRestoring = "error_restoring",
        ErrorBackingUp = "error_backing-up",
        ErrorManaging = "error_managing",
        ErrorManagingDeleting = "error_managing_deleting",
        Managing = "managing",
        Unmanaging = "unmanaging",
        Downloading = "downloading",
        Uploading = "uploading",
        Retyping = "retyping",
        Extending = "extending",
        BackingUp = "backing-up",
        RestoringBackup = "restoring-backup",
        AwaitingTransfer = "awaiting-transfer",
        Reverting = "reverting",
    }
}

text_enum! {
    /// `attach_status` of a volume.
    pub enum AttachStatus {
        Detached = "detached",
        Attached = "attached",
        Attaching = "attaching",
        Detaching = "detaching",
        Reserved = "reserved",
        ErrorAttaching = "error_attaching",
        ErrorDetaching = "error_detaching",
    }
}

impl VolumeStatus {
    /// The word clients see: three internal states have an older name outside.
    pub const fn shown(self) -> &'static str {
        match self {
            Self::Managing => Self::Creating.as_str(),
            Self::ErrorManaging => Self::Error.as_str(),
            Self::ErrorManagingDeleting => Self::Deleting.as_str(),
            other => other.as_str(),
        }
    }

    /// Whether the word itself says that something went wrong.
    pub fn is_error(self) -> bool {
        self.as_str().contains("error")
    }
}

/// What a stored status reads like outside; an unknown word is shown as it is.
pub fn shown_status(stored: &str) -> &str {
    match VolumeStatus::parse(stored) {
        Some(status) => status.shown(),
        None => stored,
    }
}

/// DELETE starts from these. `error_deleting` is ours: a failed delete may simply be repeated by its owner.
pub const DELETE_FROM: &[VolumeStatus] = &[
    VolumeStatus::Available,
    VolumeStatus::Error,
    VolumeStatus::ErrorRestoring,
    VolumeStatus::ErrorExtending,
    VolumeStatus::ErrorManaging,
    VolumeStatus::ErrorDeleting,
];

/// A new attachment of a volume that only one may hold starts from these.
pub const ATTACH_FROM: &[VolumeStatus] = &[VolumeStatus::Available, VolumeStatus::Downloading];

/// `os-reserve` and `os-attach` of a volume that only one may hold start from these.
pub const OLDER_ATTACH_FROM: &[VolumeStatus] = &[VolumeStatus::Available];

/// A new attachment of a multi-attach volume starts from these: every other attachment may be at any stage.
pub const MULTIATTACH_FROM: &[VolumeStatus] = &[
    VolumeStatus::Available,
    VolumeStatus::Downloading,
    VolumeStatus::Reserved,
    VolumeStatus::Attaching,
    VolumeStatus::InUse,
    VolumeStatus::Detaching,
];

/// A second attachment of the same instance (live migration) starts from these, multi-attach or not.
pub const SAME_INSTANCE_FROM: &[VolumeStatus] = &[
    VolumeStatus::Available,
    VolumeStatus::Downloading,
    VolumeStatus::Reserved,
    VolumeStatus::Attaching,
    VolumeStatus::InUse,
    VolumeStatus::Detaching,
];

/// A volume is offered to another project from these.
pub const TRANSFER_FROM: &[VolumeStatus] = &[VolumeStatus::Available];

/// A snapshot is taken from these; of an attached volume only when that was asked for.
pub const SNAPSHOT_FROM: &[VolumeStatus] = &[VolumeStatus::Available];
pub const SNAPSHOT_IN_USE_FROM: &[VolumeStatus] = &[VolumeStatus::Available, VolumeStatus::InUse];

/// A volume is copied from these.
pub const COPY_FROM: &[VolumeStatus] = &[VolumeStatus::Available, VolumeStatus::InUse];

/// A volume gets another type from these.
pub const RETYPE_FROM: &[VolumeStatus] = &[VolumeStatus::Available, VolumeStatus::InUse];

/// What an operator may not say a volume is: these belong to a job that would not be there, and nothing would ever end them.
/// `creating` and `attaching` belong to one too, but operators' tools (Tempest among them) tell a volume so before they
/// delete it by force, which works from there; whoever tells it so may tell it otherwise.
pub const NEVER_TOLD: &[VolumeStatus] = &[
    // without an offer there would be nobody to take it, and no way back
    VolumeStatus::AwaitingTransfer,
    VolumeStatus::Deleting,
    VolumeStatus::ErrorDeleting,
    VolumeStatus::Detaching,
    VolumeStatus::Managing,
    VolumeStatus::ErrorManagingDeleting,
    VolumeStatus::Unmanaging,
    VolumeStatus::Downloading,
    VolumeStatus::Uploading,
    VolumeStatus::Retyping,
    VolumeStatus::Extending,
    VolumeStatus::BackingUp,
    VolumeStatus::RestoringBackup,
    VolumeStatus::Reverting,
];

/// In these, a change of the attachments changes the volume's status; in others (an upload, a migration) it leaves it alone.
pub const FOLLOWS_ATTACHMENTS: &[VolumeStatus] =
    &[VolumeStatus::Available, VolumeStatus::Reserved, VolumeStatus::Attaching, VolumeStatus::InUse, VolumeStatus::Detaching];

/// A migration in one of these states (or none) does not stand in the way of other verbs.
pub const IDLE_MIGRATIONS: &[&str] = &["deleting", "error", "success"];

/// What a migration says that a job works on; told anything else, the job gives up.
pub const MIGRATION_ACTIVE: &[&str] = &["starting", "migrating", "completing"];

/// A volume that nobody is attached to is copied to another pool from these.
pub const MIGRATE_FROM: &[VolumeStatus] = &[VolumeStatus::Available];

/// Metadata may not be changed while the volume is in one of these.
pub const METADATA_LOCKED: &[VolumeStatus] = &[VolumeStatus::Maintenance];

/// Joins allowed states for a refusal: `available or error`.
pub fn either(states: &[VolumeStatus]) -> String {
    states.iter().map(|s| s.as_str()).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_reads_back_from_its_own_word() {
        for s in VolumeStatus::ALL {
            assert_eq!(VolumeStatus::parse(s.as_str()), Some(*s));
        }
        for s in AttachStatus::ALL {
            assert_eq!(AttachStatus::parse(s.as_str()), Some(*s));
        }
        assert_eq!(VolumeStatus::parse("Available"), None);
    }

    #[test]
    fn three_internal_states_have_an_outside_name() {
        assert_eq!(shown_status("managing"), "creating");
        assert_eq!(shown_status("error_managing"), "error");
        assert_eq!(shown_status("error_managing_deleting"), "deleting");
        assert_eq!(shown_status("in-use"), "in-use");
        assert_eq!(shown_status("not-a-word"), "not-a-word");
    }

    #[test]
    fn nothing_in_motion_can_be_deleted() {
        for s in [
            VolumeStatus::Creating,
            VolumeStatus::Deleting,
            VolumeStatus::Attaching,
            VolumeStatus::Reserved,
            VolumeStatus::InUse,
            VolumeStatus::Detaching,
        ] {
            assert!(!DELETE_FROM.contains(&s), "{s}");
        }
    }

    #[test]
    fn a_volume_for_one_is_attached_from_rest_only() {
        assert_eq!(either(ATTACH_FROM), "available or downloading");
        assert!(MULTIATTACH_FROM.contains(&VolumeStatus::Attaching) && MULTIATTACH_FROM.contains(&VolumeStatus::Reserved));
    }
}
