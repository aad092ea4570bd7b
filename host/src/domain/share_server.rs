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
        assert_eq!(joined(DELETE_FROM), "active, error");
    }
}
