//! `/share-group-types`: the types of share groups, their specs and who may use them. An experiment until 2.54.

mod access;
mod create;
mod delete;
mod list;
mod show;
mod specs;

use crate::{
    api::route::{Api, Handler, Route, Verb},
    handler,
};

const EXPERIMENTAL_SINCE: u16 = 31;
const SINCE: u16 = 55;
const TYPES: &str = "/share-group-types";
const TYPE: &str = "/share-group-types/{type_id}";
const ACTION: &str = "/share-group-types/{type_id}/action";
const SPECS: &str = "/share-group-types/{type_id}/group-specs";
const SPEC: &str = "/share-group-types/{type_id}/group-specs/{key}";

const fn row(verb: Verb, path: &'static str, policy: &'static str, success: u16, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Share, verb, path, policy, success, summary, handler)
}

const fn old(route: Route) -> Route {
    route.since(EXPERIMENTAL_SINCE).until(SINCE - 1).experimental()
}

const fn list(path: &'static str) -> Route {
    row(Verb::Get, path, "share_group_type:index", 200, "List share group types", handler!(list::list)).query(&[
        ("is_public", "boolean", "for an admin: true, false or all"),
        ("group_specs", "string", "filter: {'key': 'value'}, from 2.66"),
    ])
}

const CREATE: Route =
    row(Verb::Post, TYPES, "share_group_type:create", 200, "Create a share group type", handler!(create::create)).body(&[
        ("share_group_type.name", "string", "1 to 255 characters, unique"),
        ("share_group_type.share_types", "array", "names or ids of the share types its groups may have"),
        ("share_group_type.is_public", "boolean", "whether every project may use it; true when left out"),
        ("share_group_type.group_specs", "object", "pairs of text"),
    ]);
const SHOW: Route = row(
    Verb::Get,
    TYPE,
    "share_group_type:show,share_group_type:default",
    200,
    "Show a share group type; the id may be `default`",
    handler!(show::show),
);
const DELETE: Route = row(Verb::Delete, TYPE, "share_group_type:delete", 204, "Delete a share group type", handler!(delete::delete));
const PROJECTS: Route = row(
    Verb::Get,
    "/share-group-types/{type_id}/access",
    "share_group_type:list_project_access",
    200,
    "List the projects that may use a private type of groups",
    handler!(access::list),
);
const ADD: Route = row(
    Verb::Post,
    ACTION,
    "share_group_type:add_project_access",
    202,
    "Let a project use a private type of groups",
    handler!(access::add),
)
.action("addProjectAccess")
.body(&[("addProjectAccess.project", "string", "the project's id")]);
const REMOVE: Route = row(
    Verb::Post,
    ACTION,
    "share_group_type:remove_project_access",
    202,
    "Take a private type of groups from a project",
    handler!(access::remove),
)
.action("removeProjectAccess")
.body(&[("removeProjectAccess.project", "string", "the project's id")]);
const ALL_SPECS: Route =
    row(Verb::Get, SPECS, "share_group_types_spec:index", 200, "Show the specs of a type of groups", handler!(specs::all));
const MERGE_SPECS: Route =
    row(Verb::Post, SPECS, "share_group_types_spec:create", 200, "Add to the specs of a type of groups", handler!(specs::merge)).body(&[(
        "group_specs",
        "object",
        "pairs of text",
    )]);
const ONE_SPEC: Route = row(Verb::Get, SPEC, "share_group_types_spec:show", 200, "Show one spec of a type of groups", handler!(specs::one));
const PUT_SPEC: Route =
    row(Verb::Put, SPEC, "share_group_types_spec:update", 200, "Set one spec of a type of groups", handler!(specs::put));
const REMOVE_SPEC: Route =
    row(Verb::Delete, SPEC, "share_group_types_spec:delete", 204, "Remove one spec of a type of groups", handler!(specs::remove));

pub const ROUTES: &[Route] = &[
    old(list(TYPES)),
    list(TYPES).since(SINCE),
    old(list("/share-group-types/detail")),
    list("/share-group-types/detail").since(SINCE),
    old(CREATE),
    CREATE.since(SINCE),
    old(SHOW),
    SHOW.since(SINCE),
    old(DELETE),
    DELETE.since(SINCE),
    old(PROJECTS),
    PROJECTS.since(SINCE),
    old(ADD),
    ADD.since(SINCE),
    old(REMOVE),
    REMOVE.since(SINCE),
    old(ALL_SPECS),
    ALL_SPECS.since(SINCE),
    old(MERGE_SPECS),
    MERGE_SPECS.since(SINCE),
    old(ONE_SPEC),
    ONE_SPEC.since(SINCE),
    old(PUT_SPEC),
    PUT_SPEC.since(SINCE),
    old(REMOVE_SPEC),
    REMOVE_SPEC.since(SINCE),
];
