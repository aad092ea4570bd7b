//! `/types`: share types, their extra specs and who may use them.

pub(super) mod access;
mod create;
mod delete;
mod extra_specs;
pub(super) mod list;
mod show;
mod update;

use crate::{
    api::{
        route::{Api, Route, Verb},
        share::body::{WITH_OS_UNTIL, WITHOUT_OS_SINCE},
    },
    handler,
};

const TYPES: &str = "/types";
const TYPE: &str = "/types/{type_id}";
const ACTION: &str = "/types/{type_id}/action";
const SPECS: &str = "/types/{type_id}/extra_specs";
const SPEC: &str = "/types/{type_id}/extra_specs/{key}";
const LIST_QUERY: &[(&str, &str, &str)] =
    &[("is_public", "boolean", "for an admin: true, false or all"), ("extra_specs", "string", "filter: {'key': 'value'}, from 2.43")];

const fn list(path: &'static str) -> Route {
    Route::new(Api::Share, Verb::Get, path, "share_type:index", 200, "List share types", handler!(list::list)).query(LIST_QUERY)
}

const fn projects(path: &'static str) -> Route {
    let summary = "List the projects that may use a private type";
    Route::new(Api::Share, Verb::Get, path, "share_type:list_project_access", 200, summary, handler!(access::list))
}

pub const ROUTES: &[Route] = &[
    list(TYPES),
    list("/types/detail"),
    Route::new(Api::Share, Verb::Post, TYPES, "share_type:create", 200, "Create a share type", handler!(create::create)).body(&[
        ("share_type.name", "string", "1 to 255 characters, unique"),
        ("share_type.description", "string", "at most 255 characters, from 2.41"),
        ("share_type.share_type_access:is_public", "boolean", "whether every project may use it; true when left out"),
        ("share_type.extra_specs", "object", "what the type asks of a back end; driver_handles_share_servers is needed"),
    ]),
    Route::new(
        Api::Share,
        Verb::Get,
        TYPE,
        "share_type:show,share_type:default",
        200,
        "Show a share type; the id may be `default`",
        handler!(show::show),
    ),
    Route::new(Api::Share, Verb::Put, TYPE, "share_type:update", 200, "Change a share type", handler!(update::update)).since(50).body(&[
        ("share_type.name", "string", "1 to 255 characters, unique"),
        ("share_type.description", "string", "at most 255 characters"),
        ("share_type.share_type_access:is_public", "boolean", "whether every project may use it"),
    ]),
    Route::new(Api::Share, Verb::Delete, TYPE, "share_type:delete", 202, "Delete a share type that no share has", handler!(delete::delete)),
    projects("/types/{type_id}/os-share-type-access").until(WITH_OS_UNTIL),
    projects("/types/{type_id}/share_type_access").since(WITHOUT_OS_SINCE),
    Route::new(
        Api::Share,
        Verb::Post,
        ACTION,
        "share_type:add_project_access",
        202,
        "Let a project use a private type",
        handler!(access::add),
    )
    .action("addProjectAccess")
    .body(&[("addProjectAccess.project", "string", "the project's id")]),
    Route::new(
        Api::Share,
        Verb::Post,
        ACTION,
        "share_type:remove_project_access",
        202,
        "Take a private type from a project",
        handler!(access::remove),
    )
    .action("removeProjectAccess")
    .body(&[("removeProjectAccess.project", "string", "the project's id")]),
    Route::new(Api::Share, Verb::Get, SPECS, "share_types_extra_spec:index", 200, "Show a type's extra specs", handler!(extra_specs::all)),
    Route::new(
        Api::Share,
        Verb::Post,
        SPECS,
        "share_types_extra_spec:create",
        200,
        "Add to a type's extra specs",
        handler!(extra_specs::merge),
    )
    .body(&[("extra_specs", "object", "pairs of text")]),
    Route::new(Api::Share, Verb::Get, SPEC, "share_types_extra_spec:show", 200, "Show one extra spec", handler!(extra_specs::one)),
    Route::new(Api::Share, Verb::Put, SPEC, "share_types_extra_spec:update", 200, "Set one extra spec", handler!(extra_specs::put)),
    Route::new(
        Api::Share,
        Verb::Delete,
        SPEC,
        "share_types_extra_spec:delete",
        202,
        "Remove one extra spec",
        handler!(extra_specs::remove),
    ),
];
