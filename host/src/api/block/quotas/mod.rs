//! `/os-quota-sets`, `/os-quota-class-sets`, `/limits`.

mod classes;
mod limits;
mod sets;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const SET: &str = "/os-quota-sets/{project}";
const CLASS: &str = "/os-quota-class-sets/{class}";
const SHOW: &str = "volume_extension:quotas:show";

pub const ROUTES: &[Route] = &[
    Route::new(Api::Block, Verb::Get, SET, SHOW, 200, "Show a project's limits", handler!(sets::show)).system_too().query(&[(
        "usage",
        "boolean",
        "with what is used",
    )]),
    Route::new(Api::Block, Verb::Get, "/os-quota-sets/{project}/defaults", SHOW, 200, "Show the default limits", handler!(sets::defaults))
        .system_too(),
    Route::new(Api::Block, Verb::Put, SET, "volume_extension:quotas:update", 200, "Set a project's limits", handler!(sets::update))
        .system_too()
        .body(&[("quota_set", "object", "resource: limit, -1 for none")]),
    Route::new(
        Api::Block,
        Verb::Delete,
        SET,
        "volume_extension:quotas:delete",
        200,
        "Give a project the default limits",
        handler!(sets::delete),
    )
    .system_too(),
    Route::new(Api::Block, Verb::Get, CLASS, "volume_extension:quota_classes:get", 200, "Show a class's limits", handler!(classes::show))
        .system_too(),
    Route::new(
        Api::Block,
        Verb::Put,
        CLASS,
        "volume_extension:quota_classes:update",
        200,
        "Set a class's limits",
        handler!(classes::update),
    )
    .system_too()
    .body(&[("quota_class_set", "object", "resource: limit, -1 for none")]),
    Route::new(
        Api::Block,
        Verb::Get,
        "/limits",
        "limits_extension:used_limits",
        200,
        "Show limits and usage in short",
        handler!(limits::show),
    )
    .query(&[("project_id", "string", "another project, for an admin, from 3.39")]),
];
