//! `/snapshots`.

mod create;
mod delete;
mod filters;
mod force_delete;
mod list;
mod reset;
mod show;
mod tell;
mod update;

use crate::{
    api::{
        members::Members,
        route::{Api, Route, Verb},
    },
    domain::snapshot::SnapshotStatus,
    error::{Error, Result},
    handler,
};

const ONE: &str = "/snapshots/{snapshot_id}";
const ACTION: &str = "/snapshots/{snapshot_id}/action";

pub const ROUTES: &[Route] = &[
    Route::new(Api::Block, Verb::Post, "/snapshots", "volume:create_snapshot", 202, "Take a snapshot", handler!(create::create)).body(&[
        ("snapshot.volume_id", "string", "the volume"),
        ("snapshot.name", "string", "at most 255 characters"),
        ("snapshot.description", "string", "at most 255 characters"),
        ("snapshot.metadata", "object", "pairs of text"),
        ("snapshot.force", "boolean", "of an attached volume, too; up to 3.65, from then on that needs no word"),
    ]),
    Route::new(Api::Block, Verb::Get, "/snapshots", "volume:get_all_snapshots", 200, "List snapshots", handler!(list::summaries))
        .query(LIST_QUERY),
    Route::new(
        Api::Block,
        Verb::Get,
        "/snapshots/detail",
        "volume:get_all_snapshots",
        200,
        "List snapshots in full",
        handler!(list::details),
    )
    .query(LIST_QUERY),
    Route::new(Api::Block, Verb::Get, ONE, "volume:get_snapshot", 200, "Show a snapshot", handler!(show::show)),
    Route::new(Api::Block, Verb::Put, ONE, "volume:update_snapshot", 200, "Change name or description", handler!(update::update))
        .body(&[("snapshot.name", "string", "at most 255 characters"), ("snapshot.description", "string", "at most 255 characters")]),
    Route::new(Api::Block, Verb::Delete, ONE, "volume:delete_snapshot", 202, "Delete a snapshot", handler!(delete::delete)),
    Route::new(
        Api::Block,
        Verb::Post,
        ACTION,
        "volume_extension:snapshot_admin_actions:reset_status",
        202,
        "Say what a snapshot's status is",
        handler!(reset::reset_status),
    )
    .action("os-reset_status")
    .body(&[("os-reset_status.status", "string", "any status of a snapshot")]),
    Route::new(
        Api::Block,
        Verb::Post,
        ACTION,
        "volume_extension:snapshot_admin_actions:force_delete",
        202,
        "Delete a snapshot whatever its status",
        handler!(force_delete::force_delete),
    )
    .action("os-force_delete"),
    Route::new(
        Api::Block,
        Verb::Post,
        ACTION,
        "snapshot_extension:snapshot_actions:update_snapshot_status",
        202,
        "Say how far a snapshot is",
        handler!(tell::update_status),
    )
    .action("os-update_snapshot_status")
    .body(&[
        ("os-update_snapshot_status.status", "string", "creating, available, error; deleting, error_deleting"),
        ("os-update_snapshot_status.progress", "string", "a percentage: 73%"),
    ]),
];

const LIST_QUERY: &[(&str, &str, &str)] = &[
    ("limit", "integer", "at most this many"),
    ("marker", "string", "begin after the snapshot with this id, which may be deleted"),
    ("offset", "integer", "skip this many"),
    ("sort", "string", "key[:direction],..."),
    ("with_count", "boolean", "how many there are in all, from 3.45"),
    ("all_tenants", "boolean", "every project's, for an admin"),
    ("name", "string", "filter"),
    ("status", "string", "filter"),
    ("volume_id", "string", "filter"),
    ("metadata", "string", "filter: {'key': 'value'}, from 3.22"),
    ("availability_zone", "string", "filter"),
    ("consumes_quota", "boolean", "filter, from 3.65"),
];

/// The status that an action names.
fn status(members: &Members<'_>) -> Result<SnapshotStatus> {
    let word = members.text("status")?.ok_or_else(|| Error::invalid("Must specify 'status'"))?;
    SnapshotStatus::parse(&word.to_ascii_lowercase()).ok_or_else(|| members.refuse("status", "is not a status of a snapshot"))
}
