//! Where snapshots, and the instances of them, can be mounted, from 2.32.

mod list;
mod show;

use super::snapshot_access::SINCE;
use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Share,
        Verb::Get,
        "/snapshots/{snapshot_id}/export-locations",
        "share_snapshot_export_location:index",
        200,
        "List where a snapshot can be mounted",
        handler!(list::of_snapshot),
    )
    .since(SINCE),
    Route::new(
        Api::Share,
        Verb::Get,
        "/snapshots/{snapshot_id}/export-locations/{location_id}",
        "share_snapshot_export_location:show",
        200,
        "Show an export location of a snapshot",
        handler!(show::of_snapshot),
    )
    .since(SINCE),
    Route::new(
        Api::Share,
        Verb::Get,
        "/snapshot-instances/{instance_id}/export-locations",
        "share_snapshot_instance_export_location:index",
        200,
        "List where a snapshot's instance can be mounted",
        handler!(list::of_instance),
    )
    .since(SINCE),
    Route::new(
        Api::Share,
        Verb::Get,
        "/snapshot-instances/{instance_id}/export-locations/{location_id}",
        "share_snapshot_instance_export_location:show",
        200,
        "Show an export location of a snapshot's instance",
        handler!(show::of_instance),
    )
    .since(SINCE),
];
