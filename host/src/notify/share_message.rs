//! User messages of the share service. Numbers and texts are upstream's; the block service has others of its own.

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShareResource {
    Share,
    ShareSnapshot,
    ShareNetwork,
    ShareNetworkSubnet,
    SecurityService,
    ShareServer,
}

impl ShareResource {
    /// As `resource_type` shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Share => "SHARE",
            Self::ShareSnapshot => "SHARE_SNAPSHOT",
            Self::ShareNetwork => "SHARE_NETWORK",
            Self::ShareNetworkSubnet => "SHARE_NETWORK_SUBNET",
            Self::SecurityService => "SECURITY_SERVICE",
            Self::ShareServer => "SHARE_SERVER",
        }
    }
}

super::message::texts! {
    /// What was being done.
    ShareAction, "unknown action";
    AllocateHost = "001" "allocate host",
    Create = "002" "create",
    DeleteAccessRules = "003" "delete access rules",
    Promote = "004" "promote",
    Update = "005" "update",
    Revert = "006" "revert to snapshot",
    Delete = "007" "delete",
    Extend = "008" "extend",
    Shrink = "009" "shrink",
    UpdateAccessRules = "010" "update access rules",
    AddUpdateSecurityService = "011" "add or update security service",
    TransferAccept = "026" "transfer accept",
    UpdateMetadata = "027" "update_metadata",
    RestoreBackup = "028" "restore share backup",
    // ours, in a range of their own
    CreateSnapshot = "101" "create snapshot",
    DeleteSnapshot = "102" "delete snapshot",
    AddSubnet = "103" "add share network subnet",
    Ensure = "104" "ensure",
    Manage = "105" "manage",
    Unmanage = "106" "unmanage",
    MigrateServer = "107" "migrate share server",
}

super::message::texts! {
    /// How it failed.
    ShareDetail, "An unknown error occurred.";
    UnknownError = "001" "An unknown error occurred.",
    NoValidHost = "002" "No storage could be allocated for this share request. Trying again with a different size or share type may succeed.",
    UnexpectedNetwork = "003" "Driver does not expect share-network to be provided with current configuration.",
    NoShareServer = "004" "Could not find an existing share server or allocate one on the share network provided. You may use a different share network, or verify the network details in the share network and retry your request.",
    FilterAvailabilityZone = "007" "No storage could be allocated for this share request, AvailabilityZone filter didn't succeed.",
    FilterCapabilities = "008" "No storage could be allocated for this share request, Capabilities filter didn't succeed.",
    FilterCapacity = "009" "No storage could be allocated for this share request, Capacity filter didn't succeed.",
    FilterDriver = "010" "No storage could be allocated for this share request, Driver filter didn't succeed.",
    FilterIgnoreAttempted = "011" "No storage could be allocated for this share request, IgnoreAttemptedHosts filter didn't succeed.",
    DriverRefusedExtend = "015" "Share Driver failed to extend share, The share status has been set to extending_error. This action cannot be re-attempted until the status has been rectified. Contact your administrator to determine the cause of this failure.",
    DriverFailedCreateFromSnapshot = "017" "Share Driver has failed to create the share from snapshot. This operation can be re-tried by creating a new share. Contact your administrator to determine the cause of this failure.",
    DriverRefusedShrink = "018" "Share Driver refused to shrink the share. The size to be shrunk is smaller than the current used space. The share status has been set to available. Please select a size greater than the current used space.",
    DriverDoesNotShrink = "019" "Share Driver does not support shrinking shares. Shrinking share operation failed.",
    ForbiddenClientAccess = "020" "Failed to grant access to client. The client ID used may be forbidden. You may try again with a different client identifier.",
    UnsupportedClientAccess = "021" "Failed to grant access to client. The access level or type may be unsupported. You may try again with a different access level or access type.",
    NoDefaultShareType = "024" "No default share type has been made available. You must specify a share type for creating shares.",
    PortLimitExceeded = "027" "Failed to create a new network port. Maximum number of network ports is exceeded.",
    BackendsNotReady = "028" "No storage could be allocated for this share request. Share back end services are not ready yet. Contact your administrator in case retrying does not help.",
    SubnetExhausted = "033" "Share network subnet has no free addresses left.",
    DriverFailedRevert = "035" "Share reverting to snapshot failed.",
    // ours, in a range of their own
    DriverFailedCreate = "101" "Share Driver has failed to create the share.",
    DriverFailedDelete = "102" "Share Driver has failed to delete the share.",
    TookTooLong = "103" "The operation did not end in time.",
    ShareIsBusy = "104" "The share is in use on the storage back end and was kept.",
    DriverFailedShrink = "105" "Share Driver has failed to shrink the share.",
    DriverFailedAccess = "106" "Share Driver has failed to apply the access rules.",
    SnapshotFailed = "107" "The snapshot failed to be created.",
    SnapshotDeleteFailed = "108" "The snapshot failed to be deleted.",
    LeftOutByDriver = "109" "Share Driver did not say how the share stands; nothing was changed.",
    NetworkUpdateFailed = "110" "The share server could not be given the new subnet.",
    ShareIsBroken = "111" "The share is not as it should be on the storage back end. Contact your administrator.",
    DriverFailedEnsure = "112" "Share Driver could not say how the share stands; its status is what it was.",
    DriverFailedManage = "113" "Share Driver could not take over the share.",
    DriverFailedUnmanage = "114" "Share Driver could not let go of the share.",
    DriverFailedManageSnapshot = "116" "Share Driver could not take over the snapshot.",
    DriverFailedUnmanageSnapshot = "117" "Share Driver could not let go of the snapshot.",
    DriverFailedManageServer = "118" "Share Driver could not take over the share server.",
    DriverFailedUnmanageServer = "119" "Share Driver could not let go of the share server.",
    ServerMigrationFailed = "120" "The share server could not be migrated; it is where it was.",
    ServerMigrationLost = "121" "The migration of the share server failed in its last step, and could not be taken back: the storage back end has to say where the data is. Source and destination are in error: delete none of them before that is known.",
    ServerLeftBehind = "122" "The share server has moved, but what it moved from could not be removed: delete the inactive share server when its back end works again.",
    NetworkUpdateRefused = "115" "A storage back end refuses the new subnet for its share servers; nothing was changed. Contact your administrator to learn why.",
}

/// A message to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewShareMessage {
    pub resource: ShareResource,
    pub resource_id: String,
    pub project_id: String,
    pub request_id: String,
    pub action: ShareAction,
    pub detail: ShareDetail,
    /// A sentence for the user beyond the detail's text: the kind of limit, the driver's own text for users. No internals.
    pub extra: String,
}

/// What the user reads.
pub fn user_message(action_id: &str, detail_id: &str, extra: &str) -> String {
    let text = format!("{}: {}", ShareAction::text_of(action_id), ShareDetail::text_of(detail_id));
    if extra.is_empty() { text } else { format!("{text} {extra}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_placement_reads_as_upstream_writes_it() {
        assert_eq!(
            user_message(ShareAction::AllocateHost.id(), ShareDetail::FilterCapacity.id(), ""),
            "allocate host: No storage could be allocated for this share request, Capacity filter didn't succeed."
        );
    }
}
