//! Who may mount a share: actions of the share, and `/share-access-rules` from 2.45.

mod allow;
mod deny;
mod list;
mod metadata;
mod show;
mod update;

pub(super) use allow::target;

use super::share_actions::PATH as ACTION;
use crate::{
    api::{
        route::{Api, Route, Verb},
        share::body::{WITH_OS_UNTIL, WITHOUT_OS_SINCE},
    },
    domain::share_access::{AccessLevel, AccessType},
    handler,
};

const RULES: &str = "/share-access-rules";
const RULE: &str = "/share-access-rules/{access_id}";
/// From here on rules are a resource of their own.
const RULES_SINCE: u16 = 45;

const fn allow() -> Route {
    Route::new(Api::Share, Verb::Post, ACTION, "share:allow_access", 200, "Let a client mount a share", handler!(allow::allow)).body(&[
        ("allow_access.access_type", "string", AccessType::WORDS),
        ("allow_access.access_to", "string", "an address or network, a name"),
        ("allow_access.access_level", "string", AccessLevel::WORDS),
        ("allow_access.metadata", "object", "pairs of text, from 2.45"),
        ("allow_access.lock_visibility", "boolean", "hide whom the rule lets in from others, from 2.82"),
        ("allow_access.lock_deletion", "boolean", "keep the rule from being removed, from 2.82"),
        ("allow_access.lock_reason", "string", "why, at most 1023 characters, from 2.82"),
    ])
}

const fn deny() -> Route {
    Route::new(Api::Share, Verb::Post, ACTION, "share:deny_access", 202, "Remove a rule", handler!(deny::deny)).body(&[
        ("deny_access.access_id", "string", "the rule's id"),
        ("deny_access.unrestrict", "boolean", "with the caller's locks on it, from 2.82"),
    ])
}

const fn list_action() -> Route {
    Route::new(Api::Share, Verb::Post, ACTION, "share:access_get_all", 200, "List a share's rules", handler!(list::action))
}

pub const ROUTES: &[Route] = &[
    allow().action("os-allow_access").until(WITH_OS_UNTIL),
    allow().action("allow_access").since(WITHOUT_OS_SINCE),
    deny().action("os-deny_access").until(WITH_OS_UNTIL),
    deny().action("deny_access").since(WITHOUT_OS_SINCE),
    list_action().action("os-access_list").until(WITH_OS_UNTIL),
    list_action().action("access_list").since(WITHOUT_OS_SINCE).until(RULES_SINCE - 1),
    Route::new(Api::Share, Verb::Get, RULES, "share_access_rule:index", 200, "List a share's rules", handler!(list::list))
        .since(RULES_SINCE)
        .query(&[
            ("share_id", "string", "the share; needed"),
            ("metadata", "string", "filter: {'key': 'value'}"),
            ("access_type", "string", "filter"),
            ("access_to", "string", "filter"),
            ("access_level", "string", "filter"),
            ("access_key", "string", "filter"),
        ]),
    Route::new(Api::Share, Verb::Get, RULE, "share_access_rule:get", 200, "Show a rule", handler!(show::show)).since(RULES_SINCE),
    Route::new(Api::Share, Verb::Put, RULE, "share_access_rule:update", 200, "Give a rule another level", handler!(update::update))
        .since(88)
        .body(&[("update_access.access_level", "string", AccessLevel::WORDS)]),
    Route::new(
        Api::Share,
        Verb::Put,
        "/share-access-rules/{access_id}/metadata",
        "share_access_metadata:update",
        200,
        "Add to a rule's metadata",
        handler!(metadata::put),
    )
    .since(RULES_SINCE)
    .body(&[("metadata", "object", "pairs of text")]),
    Route::new(
        Api::Share,
        Verb::Delete,
        "/share-access-rules/{access_id}/metadata/{key}",
        "share_access_metadata:delete",
        200,
        "Remove one pair",
        handler!(metadata::remove),
    )
    .since(RULES_SINCE),
];
