//! The states of a share's snapshot, and from which of them each verb may start.
//!
//! A snapshot shows the state of its instance; it has one, and both are written together.

use super::text_enum;
pub use super::text_enum::joined;

text_enum! {
    /// `status` of a snapshot of a share and of its instance.
    pub enum ShareSnapshotStatus {
        Creating = "creating",
        Available = "available",
        Deleting = "deleting",
        Error = "error",
        ErrorDeleting = "error_deleting",
        /// Its share is being reverted to it.
        Restoring = "restoring",
        Migrating = "migrating",
        MigratingTo = "migrating_to",
        /// The server that its share is on moves.
        ServerMigrating = "server_migrating",
        Managing = "manage_starting",
        ManageError = "manage_error",
        Unmanaging = "unmanage_starting",
        UnmanageError = "unmanage_error",
    }
}

/// DELETE starts from these.
pub const DELETE_FROM: &[ShareSnapshotStatus] = &[ShareSnapshotStatus::Available, ShareSnapshotStatus::Error];

/// What an operator may say a snapshot is. `creating` and `deleting` belong to a job that would not be there, but
/// operators' tools tell a snapshot so before they delete it by force, which works from there.
pub const MAY_BE_TOLD: &[ShareSnapshotStatus] = &[
    ShareSnapshotStatus::Available,
    ShareSnapshotStatus::Creating,
    ShareSnapshotStatus::Deleting,
    ShareSnapshotStatus::Error,
    ShareSnapshotStatus::ErrorDeleting,
];

/// What an operator may say the instance of one is.
pub const INSTANCE_MAY_BE_TOLD: &[ShareSnapshotStatus] = &[
    ShareSnapshotStatus::Available,
    ShareSnapshotStatus::Creating,
    ShareSnapshotStatus::Deleting,
    ShareSnapshotStatus::Error,
    ShareSnapshotStatus::ErrorDeleting,
    ShareSnapshotStatus::Restoring,
    ShareSnapshotStatus::Migrating,
    ShareSnapshotStatus::MigratingTo,
];

/// In these something is under way.
pub const TRANSITIONAL: &[ShareSnapshotStatus] = &[
    ShareSnapshotStatus::Creating,
    ShareSnapshotStatus::Deleting,
    ShareSnapshotStatus::Restoring,
    ShareSnapshotStatus::Migrating,
    ShareSnapshotStatus::MigratingTo,
    ShareSnapshotStatus::ServerMigrating,
    ShareSnapshotStatus::Managing,
    ShareSnapshotStatus::Unmanaging,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_reads_back_from_its_own_word() {
        for s in ShareSnapshotStatus::ALL {
            assert_eq!(ShareSnapshotStatus::parse(s.as_str()), Some(*s));
        }
    }

    #[test]
    fn what_is_in_motion_is_not_deleted() {
        for s in [ShareSnapshotStatus::Creating, ShareSnapshotStatus::Deleting, ShareSnapshotStatus::Restoring] {
            assert!(!DELETE_FROM.contains(&s), "{s}");
        }
    }

    #[test]
    fn an_operator_says_of_a_snapshot_nothing_that_cannot_be_said_of_its_instance() {
        assert!(MAY_BE_TOLD.iter().all(|s| INSTANCE_MAY_BE_TOLD.contains(s)));
        assert!(!MAY_BE_TOLD.contains(&ShareSnapshotStatus::Restoring));
    }
}
