//! The limits that hold where neither a project nor the class `default` has its own.

use super::UNLIMITED;

/// The name of the class every project belongs to.
pub const DEFAULT_CLASS: &str = "default";

/// What is shown and enforced for the block API, in the order of its answers.
pub const BLOCK: [(&str, i64); 7] = [
    ("volumes", 10),
    ("snapshots", 10),
    ("gigabytes", 1000),
    ("backups", 10),
    ("backup_gigabytes", 1000),
    ("per_volume_gigabytes", UNLIMITED),
    ("groups", 10),
];

/// The limit shipped for a resource. Per-type resources (`volumes_<type>`) and unknown ones are unlimited.
pub fn builtin_limit(resource: &str) -> i64 {
    BLOCK.iter().find(|(name, _)| *name == resource).map_or(UNLIMITED, |(_, limit)| *limit)
}
