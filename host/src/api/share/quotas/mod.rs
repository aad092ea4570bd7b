//! `/quota-sets`, `/quota-class-sets` (with `os-` until 2.6), `/limits`.

mod classes;
mod limits;
mod sets;

use crate::{
    api::{
        route::{Api, Handler, Route, Verb},
        share::body::{WITH_OS_UNTIL, WITHOUT_OS_SINCE},
    },
    handler,
};

const DETAIL_SINCE: u16 = 25;
const WHOSE: &[(&str, &str, &str)] =
    &[("user_id", "string", "those of one user in the project"), ("share_type", "string", "those of one type in the project, from 2.39")];

/// From which version on a figure is shown, and may be set.
fn since(name: &str) -> u16 {
    match name {
        "share_groups" | "share_group_snapshots" => 40,
        "share_replicas" | "replica_gigabytes" => 53,
        "per_share_gigabytes" => 62,
        "backups" | "backup_gigabytes" => 80,
        "encryption_keys" => 90,
        _ => 0,
    }
}

const fn of_set(verb: Verb, path: &'static str, policy: &'static str, success: u16, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Share, verb, path, policy, success, summary, handler)
}

const fn show(path: &'static str) -> Route {
    of_set(Verb::Get, path, "quota_set:show", 200, "Show limits", handler!(sets::show)).query(WHOSE)
}

const fn defaults(path: &'static str) -> Route {
    of_set(Verb::Get, path, "quota_set:show", 200, "Show the default limits", handler!(sets::defaults))
}

const fn update(path: &'static str) -> Route {
    of_set(Verb::Put, path, "quota_set:update", 200, "Set limits", handler!(sets::update)).query(WHOSE).body(&[(
        "quota_set",
        "object",
        "resource: limit, -1 for none; force",
    )])
}

const fn delete(path: &'static str) -> Route {
    of_set(Verb::Delete, path, "quota_set:delete", 202, "Go back to the default limits", handler!(sets::delete)).query(WHOSE)
}

const fn show_class(path: &'static str) -> Route {
    of_set(Verb::Get, path, "quota_class_set:show", 200, "Show a class's limits", handler!(classes::show))
}

const fn update_class(path: &'static str) -> Route {
    of_set(Verb::Put, path, "quota_class_set:update", 200, "Set a class's limits", handler!(classes::update)).body(&[(
        "quota_class_set",
        "object",
        "resource: limit, -1 for none",
    )])
}

pub const ROUTES: &[Route] = &[
    show("/os-quota-sets/{project}").until(WITH_OS_UNTIL),
    show("/quota-sets/{project}").since(WITHOUT_OS_SINCE),
    defaults("/os-quota-sets/{project}/defaults").until(WITH_OS_UNTIL),
    defaults("/quota-sets/{project}/defaults").since(WITHOUT_OS_SINCE),
    of_set(
        Verb::Get,
        "/quota-sets/{project}/detail",
        "quota_set:show",
        200,
        "Show limits and what is used of them",
        handler!(sets::detail),
    )
    .since(DETAIL_SINCE)
    .query(WHOSE),
    update("/os-quota-sets/{project}").until(WITH_OS_UNTIL),
    update("/quota-sets/{project}").since(WITHOUT_OS_SINCE),
    delete("/os-quota-sets/{project}").until(WITH_OS_UNTIL),
    delete("/quota-sets/{project}").since(WITHOUT_OS_SINCE),
    show_class("/os-quota-class-sets/{class}").until(WITH_OS_UNTIL),
    show_class("/quota-class-sets/{class}").since(WITHOUT_OS_SINCE),
    update_class("/os-quota-class-sets/{class}").until(WITH_OS_UNTIL),
    update_class("/quota-class-sets/{class}").since(WITHOUT_OS_SINCE),
    Route::new(Api::Share, Verb::Get, "/limits", "", 200, "Show limits and usage in short", handler!(limits::show)),
];
