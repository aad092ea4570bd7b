//! `/share-servers`.

mod delete;
mod filters;
mod list;
mod manage;
mod migration;
mod reset;
mod show;
mod unmanage;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

/// From here on a server is on a subnet that can be named.
const ONE_SUBNET_SINCE: u16 = 51;

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
        ("task_state", "string", "filter"),
        ("source_share_server_id", "string", "filter: the server that moves, or moved, there"),
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
        "/share-servers/manage",
        "share_server:manage_share_server",
        202,
        "Take over a share server that somebody else made",
        handler!(manage::manage),
    )
    .since(49)
    .body(&[
        ("share_server.host", "string", "host@backend"),
        ("share_server.share_network_id", "string", "the network that it is on"),
        ("share_server.share_network_subnet_id", "string", "the network's default subnet when left out, from 2.51"),
        ("share_server.identifier", "string", "what the back end knows it by"),
        ("share_server.driver_options", "object", "what the driver wants to know beside that"),
    ]),
    Route::new(
        Api::Share,
        Verb::Post,
        "/share-servers/{server_id}/action",
        "share_server:unmanage_share_server",
        202,
        "Let go of a share server that no share is on, and leave it as it is",
        handler!(unmanage::unmanage),
    )
    .action("unmanage")
    .since(49)
    .body(&[("unmanage.force", "boolean", "forget it whatever its driver says")]),
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
        "Say how a share server's last migration ended, or that there was none",
        handler!(reset::reset_task_state),
    )
    .action("reset_task_state")
    .since(57)
    .experimental()
    .body(&[("reset_task_state.task_state", "string", "the task state of a migration, or null")]),
    Route::new(
        Api::Share,
        Verb::Post,
        "/share-servers/{server_id}/action",
        "share_server:share_server_migration_check",
        200,
        "Say whether a share server can move to a back end",
        handler!(migration::check),
    )
    .action("migration_check")
    .since(57)
    .experimental()
    .body(&[
        ("migration_check.host", "string", "host@backend"),
        ("migration_check.writable", "boolean", "users go on writing until it is completed"),
        ("migration_check.nondisruptive", "boolean", "what is mounted stays mounted; never supported"),
        ("migration_check.preserve_snapshots", "boolean", "snapshots move, too"),
        ("migration_check.new_share_network_id", "string", "the network that it is in when left out"),
    ]),
    Route::new(
        Api::Share,
        Verb::Post,
        "/share-servers/{server_id}/action",
        "share_server:share_server_migration_start",
        202,
        "Begin to move a share server, with all that is on it, to another back end",
        handler!(migration::start),
    )
    .action("migration_start")
    .since(57)
    .experimental()
    .body(&[
        ("migration_start.host", "string", "host@backend"),
        ("migration_start.writable", "boolean", "users go on writing until it is completed"),
        ("migration_start.nondisruptive", "boolean", "what is mounted stays mounted; never supported"),
        ("migration_start.preserve_snapshots", "boolean", "snapshots move, too"),
        ("migration_start.new_share_network_id", "string", "the network that it is in when left out"),
    ]),
    Route::new(
        Api::Share,
        Verb::Post,
        "/share-servers/{server_id}/action",
        "share_server:share_server_migration_complete",
        200,
        "Let a share server that is copied take the place of what it was copied from",
        handler!(migration::complete),
    )
    .action("migration_complete")
    .since(57)
    .experimental(),
    Route::new(
        Api::Share,
        Verb::Post,
        "/share-servers/{server_id}/action",
        "share_server:share_server_migration_cancel",
        202,
        "Leave a share server that is being copied, or is copied, where it is",
        handler!(migration::cancel),
    )
    .action("migration_cancel")
    .since(57)
    .experimental(),
    Route::new(
        Api::Share,
        Verb::Post,
        "/share-servers/{server_id}/action",
        "share_server:share_server_migration_get_progress",
        200,
        "Say how far the migration of a share server is",
        handler!(migration::get_progress),
    )
    .action("migration_get_progress")
    .since(57)
    .experimental(),
];
