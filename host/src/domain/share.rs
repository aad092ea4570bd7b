//! A share's states, and from which of them each verb may start.
//!
//! A share shows the state of its instance; it has one, and both are written together.

use super::text_enum;
pub use super::text_enum::{is_one_of, joined};

text_enum! {
    /// `status` of a share and of its instance.
    pub enum ShareStatus {
        Creating = "creating",
        CreatingFromSnapshot = "creating_from_snapshot",
        Available = "available",
        Deleting = "deleting",
        DeferredDeleting = "deferred_deleting",
        Error = "error",
        ErrorDeleting = "error_deleting",
        ErrorDeferredDeleting = "error_deferred_deleting",
        Managing = "manage_starting",
        ManageError = "manage_error",
        Unmanaging = "unmanage_starting",
        UnmanageError = "unmanage_error",
        Extending = "extending",
        ExtendingError = "extending_error",
        Shrinking = "shrinking",
        ShrinkingError = "shrinking_error",
        ShrinkingPossibleDataLossError = "shrinking_possible_data_loss_error",
        Migrating = "migrating",
        MigratingTo = "migrating_to",
        ServerMigrating = "server_migrating",
        ServerMigratingTo = "server_migrating_to",
        ReplicationChange = "replication_change",
        Restoring = "restoring",
        Reverting = "reverting",
        RevertingToSnapshot = "reverting_to_snapshot",
        RevertingError = "reverting_error",
        AwaitingTransfer = "awaiting_transfer",
        BackupCreating = "backup_creating",
        BackupRestoring = "backup_restoring",
        BackupRestoringError = "backup_restoring_error",
        Ensuring = "ensuring",
        Inactive = "inactive",
    }
}

text_enum! {
    /// `access_rules_status` of a share and of its instance.
    pub enum RulesStatus {
        Active = "active",
        Syncing = "syncing",
        Error = "error",
    }
}

/// In these something is under way: no rule is changed, nothing else is begun.
pub const TRANSITIONAL: &[ShareStatus] = &[
    ShareStatus::Creating,
    ShareStatus::CreatingFromSnapshot,
    ShareStatus::Deleting,
    ShareStatus::Managing,
    ShareStatus::Unmanaging,
    ShareStatus::Extending,
    ShareStatus::Shrinking,
    ShareStatus::Migrating,
    ShareStatus::MigratingTo,
    ShareStatus::Restoring,
    ShareStatus::Reverting,
    ShareStatus::RevertingToSnapshot,
    ShareStatus::ServerMigrating,
    ShareStatus::ServerMigratingTo,
    ShareStatus::BackupCreating,
    ShareStatus::BackupRestoring,
    ShareStatus::Ensuring,
];

/// DELETE and `soft_delete` start from these.
pub const DELETE_FROM: &[ShareStatus] = &[ShareStatus::Available, ShareStatus::Error, ShareStatus::Inactive];
pub const EXTEND_FROM: &[ShareStatus] = &[ShareStatus::Available];
pub const SHRINK_FROM: &[ShareStatus] = &[ShareStatus::Available, ShareStatus::ShrinkingPossibleDataLossError];
/// What a back end may be asked about, with nothing else under way. A share in error is looked at too, and stays in error.
pub const ENSURE_FROM: &[ShareStatus] = &[
    ShareStatus::Available,
    ShareStatus::Error,
    ShareStatus::Inactive,
    ShareStatus::ExtendingError,
    ShareStatus::ShrinkingError,
    ShareStatus::ShrinkingPossibleDataLossError,
    ShareStatus::RevertingError,
];
/// A create is under way.
pub const CREATING: &[ShareStatus] = &[ShareStatus::Creating, ShareStatus::CreatingFromSnapshot];

/// What an operator may say a share is. `creating` and `deleting` belong to a job that would not be there, but operators'
/// tools (Tempest among them) tell a share so before they delete it by force, which works from there.
pub const MAY_BE_TOLD: &[ShareStatus] = &[
    ShareStatus::Creating,
    ShareStatus::Available,
    ShareStatus::Deleting,
    ShareStatus::Error,
    ShareStatus::ErrorDeleting,
    ShareStatus::Migrating,
    ShareStatus::MigratingTo,
    ShareStatus::ServerMigrating,
];

/// What an operator may say the task of a share is, beside nothing.
pub const TASK_STATES: &[&str] = &[
    "migration_starting",
    "migration_in_progress",
    "migration_completing",
    "migration_success",
    "migration_error",
    "migration_cancelled",
    "migration_driver_in_progress",
    "migration_driver_phase1_done",
    "data_copying_starting",
    "data_copying_in_progress",
    "data_copying_completing",
    "data_copying_completed",
    "data_copying_cancelled",
    "data_copying_error",
];

/// Whether a share with this `task_state` is being worked on.
pub fn is_busy(task_state: Option<&str>) -> bool {
    task_state.is_some_and(|state| {
        matches!(
            state,
            "migration_starting"
                | "migration_in_progress"
                | "migration_completing"
                | "migration_driver_starting"
                | "migration_driver_in_progress"
                | "migration_driver_phase1_done"
                | "data_copying_starting"
                | "data_copying_in_progress"
                | "data_copying_completing"
                | "data_copying_completed"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_reads_back_from_its_own_word() {
        for s in ShareStatus::ALL {
            assert_eq!(ShareStatus::parse(s.as_str()), Some(*s));
        }
    }

    #[test]
    fn nothing_in_motion_is_deleted_extended_or_shrunk() {
        for s in TRANSITIONAL {
            assert!(!DELETE_FROM.contains(s) && !EXTEND_FROM.contains(s) && !SHRINK_FROM.contains(s), "{s}");
            assert!(!ENSURE_FROM.contains(s), "{s}");
        }
    }

    #[test]
    fn a_finished_migration_does_not_make_a_share_busy() {
        for state in [None, Some("migration_success"), Some("migration_error"), Some("migration_cancelled")] {
            assert!(!is_busy(state), "{state:?}");
        }
        assert!(is_busy(Some("migration_starting")) && is_busy(Some("data_copying_in_progress")));
    }
}
