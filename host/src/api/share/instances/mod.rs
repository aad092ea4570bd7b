//! `/share_instances` and `/shares/{id}/instances`, for administrators.

mod actions;
mod list;
mod locations;
mod show;

use super::export_locations;
use crate::{
    api::{
        route::{Api, Route, Verb},
        share::body::{WITH_OS_UNTIL, WITHOUT_OS_SINCE},
    },
    handler,
};

const SINCE: u16 = 3;
const ACTION: &str = "/share_instances/{instance_id}/action";

const fn reset_status() -> Route {
    let summary = "Say what an instance's status is";
    Route::new(Api::Share, Verb::Post, ACTION, "share_instance:reset_status", 202, summary, handler!(actions::reset_status))
        .since(SINCE)
        .body(&[("reset_status.status", "string", "a status")])
}

const fn force_delete() -> Route {
    let summary = "Delete an instance, and so its share, whatever its status";
    Route::new(Api::Share, Verb::Post, ACTION, "share_instance:force_delete", 202, summary, handler!(actions::force_delete)).since(SINCE)
}

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Get, "/share_instances", "share_instance:index", 200, "List share instances", handler!(list::list))
        .since(SINCE)
        .query(&[
            ("export_location_id", "string", "filter, from 2.35"),
            ("export_location_path", "string", "filter, from 2.35"),
            ("is_soft_deleted", "boolean", "of shares in the recycle bin instead, from 2.69"),
        ]),
    Route::new(
        Api::Share,
        Verb::Get,
        "/share_instances/{instance_id}",
        "share_instance:show",
        200,
        "Show a share instance",
        handler!(show::show),
    )
    .since(SINCE),
    Route::new(
        Api::Share,
        Verb::Get,
        "/shares/{share_id}/instances",
        "share_instance:index",
        200,
        "List the instances of a share",
        handler!(list::of_share),
    )
    .since(SINCE),
    reset_status().action("os-reset_status").until(WITH_OS_UNTIL),
    reset_status().action("reset_status").since(WITHOUT_OS_SINCE),
    force_delete().action("os-force_delete").until(WITH_OS_UNTIL),
    force_delete().action("force_delete").since(WITHOUT_OS_SINCE),
    Route::new(
        Api::Share,
        Verb::Get,
        "/share_instances/{instance_id}/export_locations",
        "share_instance_export_location:index",
        200,
        "List where an instance can be mounted",
        handler!(locations::list),
    )
    .since(export_locations::SINCE),
    Route::new(
        Api::Share,
        Verb::Get,
        "/share_instances/{instance_id}/export_locations/{location_id}",
        "share_instance_export_location:show",
        200,
        "Show an export location of an instance",
        handler!(locations::show),
    )
    .since(export_locations::SINCE),
];
