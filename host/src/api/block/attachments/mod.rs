//! `/attachments`.

mod complete;
mod create;
mod delete;
mod list;
mod show;
mod update;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Block,
        Verb::Post,
        "/attachments",
        "volume:attachment_create,volume:multiattach_bootable_volume",
        200,
        "Reserve a volume, or connect it",
        handler!(create::create),
    )
    .since(27)
    .body(&[
        ("attachment.volume_uuid", "string", "the volume"),
        ("attachment.instance_uuid", "string", "who it is for; may be left out"),
        ("attachment.connector", "object", "where it shall be connected; without it the volume is only reserved"),
        ("attachment.mode", "string", "rw or ro, from 3.54"),
    ]),
    Route::new(Api::Block, Verb::Get, "/attachments", "volume:get_all", 200, "List attachments", handler!(list::summaries))
        .since(27)
        .query(LIST_QUERY),
    Route::new(Api::Block, Verb::Get, "/attachments/detail", "volume:get_all", 200, "List attachments in full", handler!(list::details))
        .since(27)
        .query(LIST_QUERY),
    Route::new(Api::Block, Verb::Get, "/attachments/{attachment_id}", "volume:get", 200, "Show an attachment", handler!(show::show))
        .since(27),
    Route::new(Api::Block, Verb::Put, "/attachments/{attachment_id}", "volume:attachment_update", 200, "Connect", handler!(update::update))
        .since(27)
        .body(&[("attachment.connector", "object", "where it shall be connected")]),
    Route::new(
        Api::Block,
        Verb::Delete,
        "/attachments/{attachment_id}",
        "volume:attachment_delete",
        200,
        "Disconnect and forget",
        handler!(delete::delete),
    )
    .since(27),
    Route::new(
        Api::Block,
        Verb::Post,
        "/attachments/{attachment_id}/action",
        "volume:attachment_complete",
        204,
        "Say that the device is in use",
        handler!(complete::complete),
    )
    .since(44)
    .action("os-complete"),
];

const LIST_QUERY: &[(&str, &str, &str)] = &[
    ("limit", "integer", "at most this many"),
    ("marker", "string", "begin after the attachment with this id, which may be deleted"),
    ("sort", "string", "key[:direction],..."),
    ("all_tenants", "boolean", "every project's, for an admin"),
    ("volume_id", "string", "filter"),
    ("instance_id", "string", "filter"),
    ("status", "string", "filter"),
];
