//! `/messages`.

mod delete;
mod list;
mod show;

use serde_json::{Value, json};

use crate::{
    api::{
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    clock::api_text,
    handler,
    notify::message::user_message,
    store::sql::messages::MessageRow,
};

pub const ROUTES: &[Route] = &[
    Route::new(Api::Block, Verb::Get, "/messages", "message:get_all", 200, "List messages, newest first", handler!(list::list))
        .since(3)
        .query(&[
            ("limit", "integer", "at most this many, from 3.5"),
            ("marker", "string", "begin after the message with this id, which may be deleted, from 3.5"),
            ("offset", "integer", "skip this many, from 3.5"),
            ("sort", "string", "key[:direction],..., from 3.5"),
            ("resource_uuid", "string", "filter, from 3.5"),
            ("resource_type", "string", "filter, from 3.5"),
            ("event_id", "string", "filter, from 3.5"),
            ("request_id", "string", "filter, from 3.5"),
            ("message_level", "string", "filter, from 3.5"),
        ]),
    Route::new(Api::Block, Verb::Get, "/messages/{message_id}", "message:get", 200, "Show a message", handler!(show::show)).since(3),
    Route::new(Api::Block, Verb::Delete, "/messages/{message_id}", "message:delete", 204, "Delete a message", handler!(delete::delete))
        .since(3),
];

fn render(req: &ApiRequest, m: &MessageRow) -> Value {
    let look = super::views::volume::look(req);
    let mut shown = json!({
        "id": m.id,
        "event_id": m.event_id,
        "user_message": user_message(&m.action_id, &m.detail_id, &m.extra),
        "message_level": m.level,
        "created_at": api_text(m.created_at),
        "guaranteed_until": api_text(m.expires_at),
        "request_id": m.request_id,
        "links": [
            { "rel": "self", "href": format!("{}/messages/{}", look.base_url, m.id) },
            { "rel": "bookmark", "href": format!("{}/messages/{}", look.bookmark_url, m.id) },
        ],
    });
    if !m.resource_type.is_empty() {
        shown["resource_type"] = json!(m.resource_type);
    }
    if !m.resource_id.is_empty() {
        shown["resource_uuid"] = json!(m.resource_id);
    }
    shown
}
