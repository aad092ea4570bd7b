//! The states of a share server, and of its migration to another back end.

use super::text_enum;
pub use super::text_enum::joined;

text_enum! {
    /// `status` of a share server.
    pub enum ServerStatus {
        Active = "active",
        Error = "error",
        Deleting = "deleting",
        Creating = "creating",
        Managing = "manage_starting",
        Unmanaging = "unmanage_starting",
        UnmanageError = "unmanage_error",
        ManageError = "manage_error",
        Inactive = "inactive",
        ServerMigrating = "server_migrating",
        ServerMigratingTo = "server_migrating_to",
        /// It is being given another subnet.
        NetworkChange = "network_change",
    }
}

text_enum! {
    /// `task_state` of a share server: how far its migration is, or how the last one ended.
    pub enum TaskState {
        /// The destination is being built.
        Starting = "migration_starting",
        InProgress = "migration_in_progress",
        /// The driver is asked to begin.
        DriverStarting = "migration_driver_starting",
        /// It copies.
        DriverInProgress = "migration_driver_in_progress",
        /// All is copied. An operator says what comes of it.
        Phase1Done = "migration_driver_phase1_done",
        Completing = "migration_completing",
        CancelInProgress = "migration_cancel_in_progress",
        Success = "migration_success",
        Cancelled = "migration_cancelled",
        Error = "migration_error",
    }
}

impl TaskState {
    /// A migration can be cancelled in these.
    pub const CANCEL_FROM: &[Self] = &[Self::DriverInProgress, Self::Phase1Done];
    /// The driver copies, or is asked to.
    pub const COPYING: &[Self] = &[Self::DriverStarting, Self::DriverInProgress];
    /// What an operator may say it is, beside nothing.
    pub const MAY_BE_TOLD: &[Self] = &[
        Self::Starting,
        Self::InProgress,
        Self::Completing,
        Self::CancelInProgress,
        Self::Success,
        Self::Error,
        Self::Cancelled,
        Self::DriverInProgress,
        Self::Phase1Done,
    ];

    /// How much is done, where the driver has not said.
    pub fn percent(self) -> i64 {
        match self {
            Self::Phase1Done | Self::Completing | Self::Success => 100,
            _ => 0,
        }
    }
}

/// In these something is under way, which ends.
pub const TRANSITIONAL: &[ServerStatus] = &[
    ServerStatus::Creating,
    ServerStatus::Deleting,
    ServerStatus::Managing,
    ServerStatus::Unmanaging,
    ServerStatus::ServerMigrating,
    ServerStatus::ServerMigratingTo,
    ServerStatus::NetworkChange,
];

/// DELETE starts from these. One that has moved away is inactive, and stays so where something unknown may be left on it.
pub const DELETE_FROM: &[ServerStatus] = &[ServerStatus::Active, ServerStatus::Error, ServerStatus::Inactive];

/// `unmanage` starts from these.
pub const UNMANAGE_FROM: &[ServerStatus] =
    &[ServerStatus::Error, ServerStatus::Active, ServerStatus::ManageError, ServerStatus::UnmanageError];

/// Whether two names that an array gives a server may be those of one: equal, or one a part of the other, whichever way they are
/// joined. An array that puts something around a name, or joins it by other signs, still calls the same server by it.
pub fn may_be_same(identifier: &str, other: &str) -> bool {
    let (a, b) = (identifier.replace('-', "_"), other.replace('-', "_"));
    !a.is_empty() && !b.is_empty() && (a.contains(&b) || b.contains(&a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_something_works_on_is_not_deleted() {
        assert!(TRANSITIONAL.iter().all(|s| !DELETE_FROM.contains(s)));
        assert!(TRANSITIONAL.iter().all(|s| !UNMANAGE_FROM.contains(s)));
        assert_eq!(joined(DELETE_FROM), "active, error, inactive");
    }

    #[test]
    fn every_task_reads_back_from_its_own_word_and_a_copied_server_is_copied_whole() {
        for task in TaskState::ALL {
            assert_eq!(TaskState::parse(task.as_str()), Some(*task));
        }
        assert_eq!((TaskState::Phase1Done.percent(), TaskState::DriverInProgress.percent()), (100, 0));
    }

    #[test]
    fn names_of_one_server_are_told_whatever_stands_around_them() {
        for other in ["vs-1a", "vs_1a", "x_vs-1a_y", "1a"] {
            assert!(may_be_same("vs-1a", other) && may_be_same(other, "vs-1a"), "{other}");
        }
        assert!(!may_be_same("vs-1a", "vs-2a") && !may_be_same("vs-1a", ""));
    }
}
