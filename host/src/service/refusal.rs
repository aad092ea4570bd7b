//! Refusals whose words released clients know. Inside a controller upstream shows the bare message; quota refusals and a
//! few others carry the name of their exception in front ([`Error::class`](crate::error::Error::class)).

use crate::{error::Error, quota::QuotaError};

pub fn volume_not_found(id: &str) -> Error {
    Error::not_found(format!("Volume {} could not be found.", short(id)))
}

pub fn snapshot_not_found(id: &str) -> Error {
    Error::not_found(format!("Snapshot {} could not be found.", short(id)))
}

pub fn attachment_not_found(id: &str) -> Error {
    Error::not_found(format!("Volume attachment could not be found with filter: attachment_id = {}.", short(id)))
}

pub fn type_not_found(id: &str) -> Error {
    Error::not_found(format!("Volume type {} could not be found.", short(id)))
}

pub fn type_changed(name: &str) -> Error {
    Error::conflict(format!("Volume type {} was changed meanwhile: send the request again.", short(name)))
}

pub fn type_not_found_by_name(name: &str) -> Error {
    Error::not_found(format!("Volume type with name {} could not be found.", short(name)))
}

pub fn invalid_volume(reason: impl std::fmt::Display) -> Error {
    Error::invalid(format!("Invalid volume: {reason}"))
}

/// Of a volume that was transferred without its snapshots.
pub fn anothers_snapshots(volume_id: &str) -> Error {
    invalid_volume(format!("Volume {volume_id} has snapshots of the project that transferred it, which must go first."))
}

pub fn invalid_snapshot(reason: impl std::fmt::Display) -> Error {
    Error::invalid(format!("Invalid snapshot: {reason}"))
}

pub fn invalid_input(reason: impl std::fmt::Display) -> Error {
    Error::invalid(format!("Invalid input received: {reason}"))
}

/// The quota of volumes, snapshots or gigabytes, as upstream words it. Clients look for "exceed".
pub fn over_quota(e: QuotaError) -> Error {
    match e {
        QuotaError::Exceeded { resource, limit, used, asked } if resource.starts_with("gigabytes") => Error::over_limit(
            "VolumeSizeExceedsAvailableQuota",
            format!(
                "Requested volume or snapshot exceeds allowed {resource} quota. Requested {asked}G, quota is {limit}G and {used}G has been consumed."
            ),
        ),
        QuotaError::Exceeded { resource, limit, .. } if resource.starts_with("snapshots") => Error::over_limit(
            "SnapshotLimitExceeded",
            format!("Maximum number of snapshots allowed ({limit}) exceeded for quota '{resource}'."),
        ),
        QuotaError::Exceeded { resource, limit, .. } => Error::over_limit(
            "VolumeLimitExceeded",
            format!("Maximum number of volumes allowed ({limit}) exceeded for quota '{resource}'."),
        ),
        QuotaError::Store(e) => e.into(),
    }
}

/// What a client sent, cut to a length that may be echoed.
fn short(text: &str) -> String {
    text.chars().take(255).collect()
}
