//! `/share-servers`.

mod delete;
mod filters;
mod list;
mod reset;
mod show;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const ALL: &str = "/share-servers";
const ONE: &str = "/share-servers/{server_id}";

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Get, ALL, "share_server:index", 200, "List share servers", handler!(list::list)).query(&[
        ("limit", "integer", "at most this many"),
        ("offset", "integer", "skip this many"),
        ("host", "string", "filter: host@backend"),
        ("status", "string", "filter"),
        ("share_network", "string", "filter: the network's id or name"),
        ("share_network_id", "string", "filter"),
        ("share_network_subnet_id", "string", "filter"),
        ("project_id", "string", "filter"),
        ("identifier", "string", "filter"),
        ("is_auto_deletable", "boolean", "filter"),
        ("network_allocation_update_support", "boolean", "filter"),
        ("security_service_update_support", "boolean", "filter"),
    ]),
    Route::new(Api::Share, Verb::Get, ONE, "share_server:show", 200, "Show a share server", handler!(show::show)),
    Route::new(
        Api::Share,
        Verb::Get,
        "/share-servers/{server_id}/details",
        "share_server:details",
        200,
        "Show what a share server's driver keeps with it",
        handler!(show::details),
    ),
    Route::new(
        Api::Share,
        Verb::Delete,
        ONE,
        "share_server:delete",
        202,
        "Tear down a share server that no share is on",
        handler!(delete::delete),
    ),
    Route::new(
        Api::Share,
        Verb::Post,
        "/share-servers/{server_id}/action",
        "share_server:reset_status",
        202,
        "Say what a share server's status is",
        handler!(reset::reset_status),
    )
    .action("reset_status")
    .since(49)
    .body(&[("reset_status.status", "string", "any status of a share server")]),
    Route::new(
        Api::Share,
        Verb::Post,
        "/share-servers/{server_id}/action",
        "share_server:share_server_reset_task_state",
        202,
        "Say that a share server has no task, as is always so",
        handler!(reset::reset_task_state),
    )
    .action("reset_task_state")
    .since(57)
    .experimental()
    .body(&[("reset_task_state.task_state", "string", "null")]),
];
