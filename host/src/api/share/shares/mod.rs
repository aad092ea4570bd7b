//! `/shares`.

mod create;
mod delete;
mod filters;
mod list;
mod show;
mod update;

pub(super) use filters::location_filters;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Get, "/shares", "share:get_all", 200, "List shares", handler!(list::summaries)).query(LIST_QUERY),
    Route::new(Api::Share, Verb::Get, "/shares/detail", "share:get_all", 200, "List shares with all fields", handler!(list::details))
        .query(LIST_QUERY),
    Route::new(
        Api::Share,
        Verb::Post,
        "/shares",
        "share:create,share:create_public_share",
        200,
        "Create a share",
        handler!(create::create),
    )
    .body(&[
        ("share.share_proto", "string", "one of those that are enabled"),
        ("share.size", "integer", "GiB; that of the snapshot when left out"),
        ("share.snapshot_id", "string", "what it is made of; empty when left out"),
        ("share.name", "string", "at most 255 characters"),
        ("share.description", "string", "at most 255 characters"),
        ("share.share_type", "string", "name or id; the default type when left out"),
        ("share.share_network_id", "string", "for types whose servers the driver builds"),
        ("share.availability_zone", "string", "any when left out"),
        ("share.metadata", "object", "pairs of text"),
        ("share.is_public", "boolean", "whether every project may see it, for an admin"),
        ("share.scheduler_hints", "object", "same_host, different_host from 2.65, only_host from 2.67"),
        ("share.mount_point_name", "string", "from 2.84"),
    ]),
    Route::new(Api::Share, Verb::Get, "/shares/{share_id}", "share:get", 200, "Show a share", handler!(show::show)),
    Route::new(
        Api::Share,
        Verb::Put,
        "/shares/{share_id}",
        "share:update,share:set_public_share",
        200,
        "Change a share's name, description or publicity",
        handler!(update::update),
    )
    .body(&[
        ("share.display_name", "string", "at most 255 characters"),
        ("share.display_description", "string", "at most 255 characters"),
        ("share.is_public", "boolean", "whether every project may see it"),
    ]),
    Route::new(Api::Share, Verb::Delete, "/shares/{share_id}", "share:delete", 202, "Delete a share", handler!(delete::delete)),
];

const LIST_QUERY: &[(&str, &str, &str)] = &[
    ("limit", "integer", "at most this many"),
    ("offset", "integer", "skip this many"),
    ("sort_key", "string", "a field"),
    ("sort_dir", "string", "asc or desc"),
    ("with_count", "boolean", "how many there are in all, from 2.42"),
    ("all_tenants", "boolean", "every project's, for an admin"),
    ("is_public", "boolean", "those that other projects made public, too"),
    ("name", "string", "filter"),
    ("name~", "string", "filter: contains, from 2.36"),
    ("description~", "string", "filter: contains, from 2.36"),
    ("status", "string", "filter"),
    ("share_type_id", "string", "filter"),
    ("share_network_id", "string", "filter"),
    ("metadata", "string", "filter: {'key': 'value'}"),
    ("extra_specs", "string", "filter: {'key': 'value'}, for an admin"),
    ("host", "string", "filter, for an admin"),
    ("share_server_id", "string", "filter, for an admin"),
    ("export_location_id", "string", "filter, from 2.35"),
    ("export_location_path", "string", "filter, from 2.35"),
    ("is_soft_deleted", "boolean", "those in the recycle bin instead, from 2.69"),
    ("availability_zone", "string", "filter, from 2.97"),
];
