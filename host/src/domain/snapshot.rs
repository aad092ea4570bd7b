//! A snapshot's states, and from which of them each verb may start.

use super::text_enum;

text_enum! {
    /// `status` of a snapshot.
    pub enum SnapshotStatus {
        Creating = "creating",
        Available = "available",
        Deleting = "deleting",
        Error = "error",
        ErrorDeleting = "error_deleting",
        Updating = "updating",
        /// Its volume is being reverted to it.
        Restoring = "restoring",
        BackingUp = "backing-up",
        Unmanaging = "unmanaging",
    }
}

/// DELETE starts from these. `error_deleting` is ours: a failed delete may simply be repeated by its owner.
pub const DELETE_FROM: &[SnapshotStatus] = &[SnapshotStatus::Available, SnapshotStatus::Error, SnapshotStatus::ErrorDeleting];

/// With these a volume may go together with its snapshots.
pub const CASCADE_FROM: &[SnapshotStatus] =
    &[SnapshotStatus::Available, SnapshotStatus::Error, SnapshotStatus::ErrorDeleting, SnapshotStatus::Deleting];

/// What `os-update_snapshot_status` may make of a snapshot in `from`; none for a state that it may not change.
pub const fn may_be_told(from: SnapshotStatus) -> &'static [SnapshotStatus] {
    match from {
        SnapshotStatus::Creating => &[SnapshotStatus::Creating, SnapshotStatus::Available, SnapshotStatus::Error],
        SnapshotStatus::Deleting => &[SnapshotStatus::Deleting, SnapshotStatus::ErrorDeleting],
        _ => &[],
    }
}

/// What an operator may not say a snapshot is: these belong to a job that would not be there, and nothing would ever end
/// them. `creating` and `deleting` belong to one too, but operators' tools (Tempest among them) tell a snapshot so before
/// they delete it by force, which works from there; and `creating` is what another service reports its progress on.
pub const NEVER_TOLD: &[SnapshotStatus] =
    &[SnapshotStatus::Updating, SnapshotStatus::Restoring, SnapshotStatus::BackingUp, SnapshotStatus::Unmanaging];

/// A progress as it is stored: `73%`, from 0 to 100. None for anything else.
pub fn progress(text: &str) -> Option<String> {
    let digits = text.strip_suffix('%')?;
    if digits.is_empty() || digits.len() > 3 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u8>().ok().filter(|n| *n <= 100).map(|n| format!("{n}%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_percentage_is_a_progress() {
        assert_eq!(progress("73%").as_deref(), Some("73%"));
        assert_eq!(progress("007%").as_deref(), Some("7%"));
        for bad in ["", "%", "73", "101%", "-1%", "+1%", "1.5%", "x%", "0000%"] {
            assert_eq!(progress(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn what_is_in_motion_is_not_deleted() {
        for s in [SnapshotStatus::Creating, SnapshotStatus::Deleting, SnapshotStatus::Restoring] {
            assert!(!DELETE_FROM.contains(&s), "{s}");
        }
    }

    #[test]
    fn only_what_is_being_made_or_deleted_can_be_told_about() {
        for s in SnapshotStatus::ALL {
            let told = may_be_told(*s);
            assert_eq!(!told.is_empty(), matches!(s, SnapshotStatus::Creating | SnapshotStatus::Deleting), "{s}");
        }
    }
}
