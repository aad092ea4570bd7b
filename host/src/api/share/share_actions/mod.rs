//! `/shares/{id}/action`: what is not about access.

mod delete;
mod extend;
pub(super) mod reset;
mod restore;
mod revert;
mod shrink;

use crate::{
    api::{
        route::{Api, Handler, Route, Verb},
        share::body::{WITH_OS_UNTIL, WITHOUT_OS_SINCE},
    },
    handler,
};

pub const PATH: &str = "/shares/{share_id}/action";
const RECYCLE_BIN_SINCE: u16 = 69;
const REVERT_SINCE: u16 = 27;

const fn action(policy: &'static str, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Share, Verb::Post, PATH, policy, 202, summary, handler)
}

const fn extend() -> Route {
    action("share:extend,share:force_extend", "Make a share larger", handler!(extend::extend)).body(&[
        ("extend.new_size", "integer", "GiB, more than it has"),
        ("extend.force", "boolean", "without asking the scheduler, for an admin, from 2.64"),
    ])
}

const fn shrink() -> Route {
    action("share:shrink", "Make a share smaller", handler!(shrink::shrink)).body(&[(
        "shrink.new_size",
        "integer",
        "GiB, less than it has",
    )])
}

const fn reset_status() -> Route {
    action("share:reset_status", "Say what a share's status is", handler!(reset::status)).body(&[(
        "reset_status.status",
        "string",
        "a status",
    )])
}

const fn force_delete() -> Route {
    action("share:force_delete", "Delete a share whatever its status", handler!(delete::force_delete))
}

const fn reset_task_state() -> Route {
    action("share:reset_task_state", "Say what the state of a share's task is", handler!(reset::task_state))
        .action("reset_task_state")
        .body(&[("reset_task_state.task_state", "string", "a state, or null")])
}

pub const ROUTES: &[Route] = &[
    extend().action("os-extend").until(WITH_OS_UNTIL),
    extend().action("extend").since(WITHOUT_OS_SINCE),
    shrink().action("os-shrink").until(WITH_OS_UNTIL),
    shrink().action("shrink").since(WITHOUT_OS_SINCE),
    reset_status().action("os-reset_status").until(WITH_OS_UNTIL),
    reset_status().action("reset_status").since(WITHOUT_OS_SINCE),
    force_delete().action("os-force_delete").until(WITH_OS_UNTIL),
    force_delete().action("force_delete").since(WITHOUT_OS_SINCE),
    action("share:soft_delete", "Put a share into the recycle bin", handler!(delete::soft_delete))
        .action("soft_delete")
        .since(RECYCLE_BIN_SINCE),
    action("share:restore", "Take a share out of the recycle bin; 200 when it is not there", handler!(restore::restore))
        .action("restore")
        .since(RECYCLE_BIN_SINCE),
    action("share:revert_to_snapshot", "Give a share the content of its latest snapshot back", handler!(revert::revert))
        .action("revert")
        .since(REVERT_SINCE)
        .body(&[("revert.snapshot_id", "string", "the latest snapshot of the share")]),
    reset_task_state().since(22).until(95).experimental(),
    reset_task_state().since(96),
];
