//! `[block.resource_filters]`: what ordinary users may filter each list by.

use std::collections::BTreeMap;

/// Resource to filters. A resource that a configuration leaves out has the default ones.
pub type ResourceFilters = BTreeMap<String, Vec<String>>;

/// The shipped table, which names every resource there is.
pub const DEFAULT: [(&str, &[&str]); 6] = [
    ("attachment", &["volume_id", "status", "instance_id", "attach_status"]),
    ("message", &["resource_uuid", "resource_type", "event_id", "request_id", "message_level"]),
    ("pool", &["name", "volume_type"]),
    ("snapshot", &["name", "status", "volume_id", "metadata", "availability_zone", "consumes_quota"]),
    (
        "volume",
        &[
            "name",
            "status",
            "metadata",
            "bootable",
            "migration_status",
            "availability_zone",
            "group_id",
            "size",
            "created_at",
            "updated_at",
            "consumes_quota",
        ],
    ),
    ("volume_type", &["is_public", "extra_specs"]),
];

/// The shipped table as a configuration has it.
pub fn default_table() -> ResourceFilters {
    DEFAULT.iter().map(|(resource, filters)| ((*resource).to_owned(), filters.iter().map(|f| (*f).to_owned()).collect())).collect()
}
