//! `/volumes`.

mod create;
mod delete;
mod filters;
mod list;
mod show;
mod summary;
mod update;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

pub const ROUTES: &[Route] = &[
    Route::new(Api::Block, Verb::Post, "/volumes", "volume:create", 202, "Create a volume", handler!(create::create)).body(&[
        ("volume.size", "integer", "GiB; its source's when left out"),
        ("volume.snapshot_id", "string", "a snapshot to copy"),
        ("volume.source_volid", "string", "a volume to copy"),
        ("volume.name", "string", "at most 255 characters"),
        ("volume.description", "string", "at most 255 characters"),
        ("volume.volume_type", "string", "name or id; the default type when left out"),
        ("volume.availability_zone", "string", "the default zone when left out"),
        ("volume.metadata", "object", "pairs of text"),
        ("OS-SCH-HNT:scheduler_hints", "object", "same_host, different_host: ids of volumes"),
    ]),
    Route::new(Api::Block, Verb::Get, "/volumes", "volume:get_all", 200, "List volumes", handler!(list::summaries)).query(LIST_QUERY),
    Route::new(Api::Block, Verb::Get, "/volumes/detail", "volume:get_all", 200, "List volumes in full", handler!(list::details))
        .query(LIST_QUERY),
    Route::new(
        Api::Block,
        Verb::Get,
        "/volumes/summary",
        "volume:get_all",
        200,
        "Count volumes and sum their sizes",
        handler!(summary::summary),
    )
    .since(12)
    .query(&[("all_tenants", "boolean", "every project's, for an admin")]),
    Route::new(Api::Block, Verb::Get, "/volumes/{volume_id}", "volume:get", 200, "Show a volume", handler!(show::show)),
    Route::new(
        Api::Block,
        Verb::Put,
        "/volumes/{volume_id}",
        "volume:update",
        200,
        "Change name, description or metadata",
        handler!(update::update),
    )
    .body(&[
        ("volume.name", "string", "at most 255 characters"),
        ("volume.description", "string", "at most 255 characters"),
        ("volume.metadata", "object", "in place of all pairs there are"),
    ]),
    Route::new(
        Api::Block,
        Verb::Delete,
        "/volumes/{volume_id}",
        "volume:delete,volume:force_delete",
        202,
        "Delete a volume",
        handler!(delete::delete),
    )
    .query(&[("cascade", "boolean", "its snapshots, too"), ("force", "boolean", "whatever its status, from 3.23")]),
];

const LIST_QUERY: &[(&str, &str, &str)] = &[
    ("limit", "integer", "at most this many"),
    ("marker", "string", "begin after the volume with this id, which may be deleted"),
    ("offset", "integer", "skip this many"),
    ("sort", "string", "key[:direction],..."),
    ("with_count", "boolean", "how many there are in all, from 3.45"),
    ("all_tenants", "boolean", "every project's, for an admin"),
    ("name", "string", "filter"),
    ("status", "string", "filter"),
    ("metadata", "string", "filter: {'key': 'value'}"),
    ("bootable", "boolean", "filter"),
    ("availability_zone", "string", "filter"),
    ("size", "integer", "filter"),
    ("created_at", "string", "filter: op:time,... from 3.60"),
    ("updated_at", "string", "filter: op:time,... from 3.60"),
];
