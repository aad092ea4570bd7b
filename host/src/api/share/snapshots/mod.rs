//! `/snapshots`.

mod actions;
mod create;
mod delete;
mod filters;
mod list;
mod show;
mod update;

use crate::{
    api::{
        route::{Api, Route, Verb},
        share::body::{WITH_OS_UNTIL, WITHOUT_OS_SINCE},
    },
    handler,
};

const ONE: &str = "/snapshots/{snapshot_id}";
pub(super) const ACTION: &str = "/snapshots/{snapshot_id}/action";

const fn reset_status() -> Route {
    let summary = "Say what a snapshot's status is";
    Route::new(Api::Share, Verb::Post, ACTION, "share_snapshot:reset_status", 202, summary, handler!(actions::reset_status)).body(&[(
        "reset_status.status",
        "string",
        "a status",
    )])
}

const fn force_delete() -> Route {
    let summary = "Delete a snapshot whatever its status";
    Route::new(Api::Share, Verb::Post, ACTION, "share_snapshot:force_delete", 202, summary, handler!(actions::force_delete))
}

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Post, "/snapshots", "share:create_snapshot", 202, "Take a snapshot of a share", handler!(create::create))
        .body(&[
            ("snapshot.share_id", "string", "the share"),
            ("snapshot.name", "string", "at most 255 characters"),
            ("snapshot.description", "string", "at most 255 characters"),
            ("snapshot.force", "boolean", "of a share that is not available, too"),
            ("snapshot.metadata", "object", "pairs of text, from 2.73"),
        ]),
    Route::new(Api::Share, Verb::Get, "/snapshots", "share_snapshot:get_all_snapshots", 200, "List snapshots", handler!(list::summaries))
        .query(LIST_QUERY),
    Route::new(
        Api::Share,
        Verb::Get,
        "/snapshots/detail",
        "share_snapshot:get_all_snapshots",
        200,
        "List snapshots with all fields",
        handler!(list::details),
    )
    .query(LIST_QUERY),
    Route::new(Api::Share, Verb::Get, ONE, "share_snapshot:get_snapshot", 200, "Show a snapshot", handler!(show::show)),
    Route::new(
        Api::Share,
        Verb::Put,
        ONE,
        "share:snapshot_update",
        200,
        "Change a snapshot's name or description",
        handler!(update::update),
    )
    .body(&[
        ("snapshot.display_name", "string", "at most 255 characters"),
        ("snapshot.display_description", "string", "at most 255 characters"),
    ]),
    Route::new(Api::Share, Verb::Delete, ONE, "share:delete_snapshot", 202, "Delete a snapshot", handler!(delete::delete)),
    reset_status().action("os-reset_status").until(WITH_OS_UNTIL),
    reset_status().action("reset_status").since(WITHOUT_OS_SINCE),
    force_delete().action("os-force_delete").until(WITH_OS_UNTIL),
    force_delete().action("force_delete").since(WITHOUT_OS_SINCE),
];

const LIST_QUERY: &[(&str, &str, &str)] = &[
    ("limit", "integer", "at most this many"),
    ("offset", "integer", "skip this many"),
    ("sort_key", "string", "a field"),
    ("sort_dir", "string", "asc or desc"),
    ("with_count", "boolean", "how many there are in all, from 2.79"),
    ("all_tenants", "boolean", "every project's, for an admin"),
    ("name", "string", "filter"),
    ("name~", "string", "filter: contains, from 2.36"),
    ("description~", "string", "filter: contains, from 2.36"),
    ("status", "string", "filter"),
    ("share_id", "string", "filter"),
    ("size", "integer", "filter"),
    ("usage", "string", "filter: used, unused: whether a share was made of it; any"),
    ("metadata", "string", "filter: {'key': 'value'}, from 2.73"),
];
