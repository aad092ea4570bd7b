//! `/qos-specs`. Four of its operations are GETs that write, as clients call them.

mod associate;
mod change;
mod list;

use serde_json::{Value, json};

use crate::{
    api::{
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    handler,
    store::sql::qos_specs::QosSpecs,
};

const ONE: &str = "/qos-specs/{qos_id}";
const GET_ALL: &str = "volume_extension:qos_specs_manage:get_all";
const UPDATE: &str = "volume_extension:qos_specs_manage:update";
const DELETE: &str = "volume_extension:qos_specs_manage:delete";
const TYPE: &[(&str, &str, &str)] = &[("vol_type_id", "string", "the type")];

pub const ROUTES: &[Route] = &[
    Route::new(Api::Block, Verb::Get, "/qos-specs", GET_ALL, 200, "List QoS specs", handler!(list::list)).system_too().query(&[
        ("limit", "integer", "at most this many"),
        ("marker", "string", "begin after the specs with this id, which may be deleted"),
        ("offset", "integer", "skip this many"),
        ("sort", "string", "key[:direction],..."),
    ]),
    Route::new(
        Api::Block,
        Verb::Post,
        "/qos-specs",
        "volume_extension:qos_specs_manage:create",
        200,
        "Create QoS specs",
        handler!(change::create),
    )
    .system_too()
    .body(&[
        ("qos_specs.name", "string", "1 to 255 characters, unique"),
        ("qos_specs.consumer", "string", "front-end, back-end (when left out) or both"),
        ("qos_specs.{key}", "string", "any further pairs"),
    ]),
    Route::new(Api::Block, Verb::Get, ONE, "volume_extension:qos_specs_manage:get", 200, "Show QoS specs", handler!(list::show))
        .system_too(),
    Route::new(Api::Block, Verb::Put, ONE, UPDATE, 200, "Add or change pairs of QoS specs", handler!(change::update))
        .system_too()
        .body(&[("qos_specs", "object", "pairs of text; consumer too")]),
    Route::new(Api::Block, Verb::Delete, ONE, DELETE, 202, "Delete QoS specs", handler!(change::delete)).system_too().query(&[(
        "force",
        "boolean",
        "also while types have them, which lose them",
    )]),
    Route::new(
        Api::Block,
        Verb::Put,
        "/qos-specs/{qos_id}/delete_keys",
        DELETE,
        202,
        "Remove pairs of QoS specs",
        handler!(change::delete_keys),
    )
    .system_too()
    .body(&[("keys", "array", "the pairs' keys")]),
    Route::new(
        Api::Block,
        Verb::Get,
        "/qos-specs/{qos_id}/associations",
        GET_ALL,
        200,
        "List the types that have these QoS specs",
        handler!(associate::list),
    )
    .system_too(),
    Route::new(Api::Block, Verb::Get, "/qos-specs/{qos_id}/associate", UPDATE, 202, "Give QoS specs to a type", handler!(associate::give))
        .system_too()
        .query(TYPE),
    Route::new(
        Api::Block,
        Verb::Get,
        "/qos-specs/{qos_id}/disassociate",
        UPDATE,
        202,
        "Take QoS specs from a type",
        handler!(associate::take),
    )
    .system_too()
    .query(TYPE),
    Route::new(
        Api::Block,
        Verb::Get,
        "/qos-specs/{qos_id}/disassociate_all",
        UPDATE,
        202,
        "Take QoS specs from every type",
        handler!(associate::take_all),
    )
    .system_too(),
];

fn render(q: &QosSpecs) -> Value {
    json!({ "id": q.row.id, "name": q.row.name, "consumer": q.row.consumer, "specs": q.specs })
}

fn with_links(req: &ApiRequest, q: &QosSpecs) -> Value {
    let look = super::views::volume::look(req);
    let href = |base: &str| format!("{base}/qos-specs/{}", q.row.id);
    json!({
        "qos_specs": render(q),
        "links": [{ "rel": "self", "href": href(&look.base_url) }, { "rel": "bookmark", "href": href(&look.bookmark_url) }],
    })
}
