//! The states of a share server.

use super::text_enum;

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

/// DELETE starts from these.
pub const DELETE_FROM: &[ServerStatus] = &[ServerStatus::Active, ServerStatus::Error];

/// `unmanage` starts from these.
pub const UNMANAGE_FROM: &[ServerStatus] =
    &[ServerStatus::Error, ServerStatus::Active, ServerStatus::ManageError, ServerStatus::UnmanageError];

/// Whether two names that an array gives a server may be those of one: equal, or one a part of the other, whichever way they are
/// joined. An array that puts something around a name, or joins it by other signs, still calls the same server by it.
pub fn may_be_same(identifier: &str, other: &str) -> bool {
    let (a, b) = (identifier.replace('-', "_"), other.replace('-', "_"));
    !a.is_empty() && !b.is_empty() && (a.contains(&b) || b.contains(&a))
}

/// Joins allowed states for a refusal: `active, error`.
pub fn joined(states: &[ServerStatus]) -> String {
    states.iter().map(|s| s.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_something_works_on_is_not_deleted() {
        assert!(TRANSITIONAL.iter().all(|s| !DELETE_FROM.contains(s)));
        assert!(TRANSITIONAL.iter().all(|s| !UNMANAGE_FROM.contains(s)));
        assert_eq!(joined(DELETE_FROM), "active, error");
    }

    #[test]
    fn names_of_one_server_are_told_whatever_stands_around_them() {
        for other in ["vs-1a", "vs_1a", "x_vs-1a_y", "1a"] {
            assert!(may_be_same("vs-1a", other) && may_be_same(other, "vs-1a"), "{other}");
        }
        assert!(!may_be_same("vs-1a", "vs-2a") && !may_be_same("vs-1a", ""));
    }
}
