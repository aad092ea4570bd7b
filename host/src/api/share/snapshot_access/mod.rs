//! Who may mount a snapshot, from 2.32: actions of the snapshot, and `/snapshots/{id}/access-list`.

mod allow;
mod deny;
mod list;

use super::snapshots::ACTION;
use crate::{
    api::route::{Api, Route, Verb},
    domain::share_access::AccessType,
    handler,
};

/// From here on snapshots can be mounted.
pub(super) const SINCE: u16 = 32;

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Post, ACTION, "share_snapshot:allow_access", 202, "Let a client mount a snapshot", handler!(allow::allow))
        .action("allow_access")
        .since(SINCE)
        .body(&[
            ("allow_access.access_type", "string", AccessType::WORDS),
            ("allow_access.access_to", "string", "an address or network, a name"),
        ]),
    Route::new(Api::Share, Verb::Post, ACTION, "share_snapshot:deny_access", 202, "Remove a rule", handler!(deny::deny))
        .action("deny_access")
        .since(SINCE)
        .body(&[("deny_access.access_id", "string", "the rule's id")]),
    Route::new(
        Api::Share,
        Verb::Get,
        "/snapshots/{snapshot_id}/access-list",
        "share_snapshot:access_list",
        200,
        "List a snapshot's rules",
        handler!(list::list),
    )
    .since(SINCE),
];
