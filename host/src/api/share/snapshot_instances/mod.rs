//! `/snapshot-instances`, for administrators, from 2.19.

mod list;
mod reset;
mod show;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const SINCE: u16 = 19;
const LIST_QUERY: &[(&str, &str, &str)] = &[("snapshot_id", "string", "filter: those of one snapshot")];

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Share,
        Verb::Get,
        "/snapshot-instances",
        "share_snapshot_instance:index",
        200,
        "List snapshot instances",
        handler!(list::summaries),
    )
    .since(SINCE)
    .query(LIST_QUERY),
    Route::new(
        Api::Share,
        Verb::Get,
        "/snapshot-instances/detail",
        "share_snapshot_instance:detail",
        200,
        "List snapshot instances with all fields",
        handler!(list::details),
    )
    .since(SINCE)
    .query(LIST_QUERY),
    Route::new(
        Api::Share,
        Verb::Get,
        "/snapshot-instances/{instance_id}",
        "share_snapshot_instance:show",
        200,
        "Show a snapshot instance",
        handler!(show::show),
    )
    .since(SINCE),
    Route::new(
        Api::Share,
        Verb::Post,
        "/snapshot-instances/{instance_id}/action",
        "share_snapshot_instance:reset_status",
        202,
        "Say what a snapshot instance's status is",
        handler!(reset::reset_status),
    )
    .action("reset_status")
    .since(SINCE)
    .body(&[("reset_status.status", "string", "a status")]),
];
