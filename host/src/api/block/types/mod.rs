//! `/types`: volume types, their extra specs and who may use them.

mod access;
mod create;
mod delete;
mod extra_specs;
mod list;
mod show;
mod update;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const SPECS: &str = "/types/{type_id}/extra_specs";
const SPEC: &str = "/types/{type_id}/extra_specs/{key}";

pub const ROUTES: &[Route] = &[
    Route::new(Api::Block, Verb::Get, "/types", "volume_extension:type_get_all", 200, "List volume types", handler!(list::list))
        .system_too()
        .query(&[
            ("limit", "integer", "at most this many"),
            ("marker", "string", "begin after the type with this id"),
            ("sort", "string", "key[:direction],..."),
            ("is_public", "boolean", "for an admin: true, false or None for all"),
            ("extra_specs", "string", "filter: {'key': 'value'}, from 3.52"),
        ]),
    Route::new(Api::Block, Verb::Post, "/types", "volume_extension:type_create", 200, "Create a volume type", handler!(create::create))
        .system_too()
        .body(&[
            ("volume_type.name", "string", "1 to 255 characters, unique"),
            ("volume_type.description", "string", "at most 255 characters"),
            ("volume_type.os-volume-type-access:is_public", "boolean", "whether every project may use it; true when left out"),
            ("volume_type.extra_specs", "object", "what the type asks of a back end"),
        ]),
    Route::new(
        Api::Block,
        Verb::Get,
        "/types/{type_id}",
        "volume_extension:type_get",
        200,
        "Show a volume type; the id may be `default`",
        handler!(show::show),
    )
    .system_too(),
    Route::new(
        Api::Block,
        Verb::Put,
        "/types/{type_id}",
        "volume_extension:type_update",
        200,
        "Change a volume type",
        handler!(update::update),
    )
    .system_too()
    .body(&[
        ("volume_type.name", "string", "unique"),
        ("volume_type.description", "string", "at most 255 characters"),
        ("volume_type.is_public", "boolean", "whether every project may use it"),
    ]),
    Route::new(
        Api::Block,
        Verb::Delete,
        "/types/{type_id}",
        "volume_extension:type_delete",
        202,
        "Delete a volume type that no volume has",
        handler!(delete::delete),
    )
    .system_too(),
    Route::new(
        Api::Block,
        Verb::Get,
        SPECS,
        "volume_extension:types_extra_specs:index",
        200,
        "Show a type's extra specs",
        handler!(extra_specs::all),
    )
    .system_too(),
    Route::new(
        Api::Block,
        Verb::Post,
        SPECS,
        "volume_extension:types_extra_specs:create",
        200,
        "Add extra specs",
        handler!(extra_specs::merge),
    )
    .system_too()
    .body(&[("extra_specs", "object", "pairs of text")]),
    Route::new(
        Api::Block,
        Verb::Get,
        SPEC,
        "volume_extension:types_extra_specs:show",
        200,
        "Show one extra spec",
        handler!(extra_specs::one),
    )
    .system_too(),
    Route::new(
        Api::Block,
        Verb::Put,
        SPEC,
        "volume_extension:types_extra_specs:update",
        200,
        "Set one extra spec",
        handler!(extra_specs::put),
    )
    .system_too()
    .body(&[("{key}", "string", "the body is the bare pair; its key is the URL's")]),
    Route::new(
        Api::Block,
        Verb::Delete,
        SPEC,
        "volume_extension:types_extra_specs:delete",
        202,
        "Remove one extra spec",
        handler!(extra_specs::remove),
    )
    .system_too(),
    Route::new(
        Api::Block,
        Verb::Post,
        "/types/{type_id}/action",
        "volume_extension:volume_type_access:addProjectAccess",
        202,
        "Give a private type to a project",
        handler!(access::add),
    )
    .system_too()
    .action("addProjectAccess")
    .body(&[("project", "string", "the project's id")]),
    Route::new(
        Api::Block,
        Verb::Post,
        "/types/{type_id}/action",
        "volume_extension:volume_type_access:removeProjectAccess",
        202,
        "Take a private type from a project",
        handler!(access::remove),
    )
    .system_too()
    .action("removeProjectAccess")
    .body(&[("project", "string", "the project's id")]),
    Route::new(
        Api::Block,
        Verb::Get,
        "/types/{type_id}/os-volume-type-access",
        "volume_extension:volume_type_access:get_all_for_type",
        200,
        "List the projects that have a private type",
        handler!(access::list),
    )
    .system_too(),
];
