//! `/resource-locks`, from 2.81.

mod create;
mod delete;
mod list;
mod show;
mod update;

use crate::{
    api::{
        route::{Api, Route, Verb},
        share::body::Members,
    },
    domain::resource_lock::MAX_REASON,
    error::Result,
    handler,
};

const SINCE: u16 = 81;
const LOCKS: &str = "/resource-locks";
const LOCK: &str = "/resource-locks/{lock_id}";

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Post, LOCKS, "resource_lock:create", 200, "Lock a share or an access rule", handler!(create::create))
        .since(SINCE)
        .body(&[
            ("resource_lock.resource_id", "string", "the share's or the rule's id"),
            ("resource_lock.resource_type", "string", "share or access_rule; share when left out"),
            ("resource_lock.resource_action", "string", "delete, or show for a rule; delete when left out"),
            ("resource_lock.lock_reason", "string", "at most 1023 characters"),
        ]),
    Route::new(Api::Share, Verb::Get, LOCKS, "resource_lock:get_all", 200, "List locks", handler!(list::list)).since(SINCE).query(&[
        ("resource_id", "string", "filter"),
        ("resource_type", "string", "filter"),
        ("resource_action", "string", "filter"),
        ("lock_context", "string", "filter: user, admin or service"),
        ("user_id", "string", "filter"),
        ("lock_reason", "string", "filter"),
        ("lock_reason~", "string", "filter: what the reason has in it"),
        ("created_since", "string", "filter: a time"),
        ("created_before", "string", "filter: a time"),
        ("all_projects", "boolean", "of every project, for an admin"),
        ("with_count", "boolean", "say how many there are"),
    ]),
    Route::new(Api::Share, Verb::Get, LOCK, "resource_lock:get", 200, "Show a lock", handler!(show::show)).since(SINCE),
    Route::new(Api::Share, Verb::Put, LOCK, "resource_lock:update", 200, "Change a lock", handler!(update::update)).since(SINCE).body(&[
        ("resource_lock.resource_action", "string", "delete, or show for a rule"),
        ("resource_lock.lock_reason", "string", "at most 1023 characters"),
    ]),
    Route::new(Api::Share, Verb::Delete, LOCK, "resource_lock:delete", 204, "Take a lock away", handler!(delete::delete)).since(SINCE),
];

/// Why something is locked, if the body says so.
pub(super) fn reason(members: &Members<'_>) -> Result<Option<String>> {
    let text = members.text("lock_reason")?.filter(|t| !t.is_empty());
    match text {
        Some(text) if text.chars().count() > MAX_REASON || text.contains('\0') => {
            Err(members.refuse("lock_reason", "is not a text of at most 1023 characters"))
        }
        text => Ok(text.map(str::to_owned)),
    }
}
