//! Refusals of the share API whose words released clients know.

use std::fmt::Display;

use crate::{
    error::{Error, Kind},
    quota::{QuotaError, defaults::SHARE_PREFIX},
};

pub fn share_not_found(id: &str) -> Error {
    Error::not_found(format!("Share {} could not be found.", short(id)))
}

pub fn instance_not_found(id: &str) -> Error {
    Error::not_found(format!("Share instance {} could not be found.", short(id)))
}

/// Why a share with snapshots stays.
pub fn has_snapshots(id: &str, count: i64) -> String {
    format!("Share {id} has {count} dependent snapshot(s); delete them first.")
}

pub fn location_not_found(id: &str) -> Error {
    Error::not_found(format!("Export location '{}' not found.", short(id)))
}

pub fn rule_not_found(id: &str) -> Error {
    Error::not_found(format!("Share access rule {} not found.", short(id)))
}

pub fn snapshot_not_found(id: &str) -> Error {
    Error::not_found(format!("Snapshot {} could not be found.", short(id)))
}

pub fn snapshot_instance_not_found(id: &str) -> Error {
    Error::not_found(format!("Share snapshot instance {} could not be found.", short(id)))
}

pub fn type_not_found() -> Error {
    Error::not_found("Share type not found.")
}

pub fn type_changed(name: &str) -> Error {
    Error::conflict(format!("Share type {} was changed meanwhile: send the request again.", short(name)))
}

pub fn invalid_share(reason: impl Display) -> Error {
    Error::invalid(format!("Invalid share: {reason}"))
}

pub fn invalid_input(reason: impl Display) -> Error {
    Error::invalid(format!("Invalid input received: {reason}"))
}

pub fn invalid_snapshot(reason: impl Display) -> Error {
    Error::invalid(format!("Invalid share snapshot: {reason}"))
}

/// Where the state is wrong for a delete upstream answers 403.
pub fn forbidden_share(reason: impl Display) -> Error {
    Error::forbidden(format!("Invalid share: {reason}"))
}

pub fn forbidden_snapshot(reason: impl Display) -> Error {
    Error::forbidden(format!("Invalid share snapshot: {reason}"))
}

/// A share in the recycle bin can only be restored or deleted.
pub fn soft_deleted(action: &str, id: &str) -> Error {
    Error::forbidden(format!("Cannot {action} share '{}' since it has been soft deleted.", short(id)))
}

pub fn busy(id: &str, task: Option<&str>) -> String {
    format!("Share {id} is busy as part of an active task: {}.", task.unwrap_or_default())
}

/// Figures that are given back cannot exceed anything.
pub fn given_back(e: QuotaError) -> Error {
    match e {
        QuotaError::Store(e) => e.into(),
        other @ QuotaError::Exceeded { .. } => Error::internal(other),
    }
}

/// The quota of shares or gigabytes, as upstream words it. Clients look for "exceed".
pub fn over_quota(e: QuotaError) -> Error {
    match e {
        QuotaError::Exceeded { resource, limit, .. } => match resource.strip_prefix(SHARE_PREFIX).unwrap_or(&resource) {
            "gigabytes" => Error::over_limit(
                "ShareSizeExceedsAvailableQuota",
                "Requested share exceeds allowed project/user or share type gigabytes quota.",
            ),
            "shares" => Error::over_limit(
                "ShareLimitExceeded",
                format!("Maximum number of shares allowed ({limit}) either per project/user or share type quota is exceeded."),
            ),
            "snapshot_gigabytes" => {
                Error::over_limit("SnapshotSizeExceedsAvailableQuota", "Requested snapshot exceeds allowed gigabytes quota.")
            }
            "snapshots" => Error::over_limit("SnapshotLimitExceeded", format!("Maximum number of snapshots allowed ({limit}) exceeded.")),
            other => Error::over_limit("OverQuota", format!("The quota of {other} ({limit}) would be exceeded.")),
        },
        QuotaError::Store(e) => e.into(),
    }
}

/// As [`over_quota`], where upstream answers 403: an extend.
pub fn over_quota_forbidden(e: QuotaError) -> Error {
    match over_quota(e) {
        e if e.kind == Kind::OverLimit => Error::forbidden(e.message),
        e => e,
    }
}

/// One share larger than one may be.
pub fn too_large(gib: i64, limit: i64) -> Error {
    Error::over_limit(
        "ShareSizeExceedsLimit",
        format!("Requested share size {gib} is larger than maximum allowed limit {limit}; it would exceed the limit for one share."),
    )
}

/// What a client sent, cut to a length that may be echoed.
fn short(text: &str) -> String {
    text.chars().take(255).collect()
}
