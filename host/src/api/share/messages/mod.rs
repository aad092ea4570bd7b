//! `/messages`, from 2.37.

mod delete;
mod list;
mod show;

use serde_json::{Value, json};

use crate::{
    api::{
        fields::Look,
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    clock::api_text,
    handler,
    notify::share_message::user_message,
    store::sql::messages::MessageRow,
};

const SINCE: u16 = 37;

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Get, "/messages", "share/message:get_all", 200, "List messages, newest first", handler!(list::list))
        .since(SINCE)
        .query(&[
            ("limit", "integer", "at most this many"),
            ("offset", "integer", "skip this many"),
            ("marker", "string", "begin after the message with this id, which may be deleted"),
            ("sort_key", "string", "a field"),
            ("sort_dir", "string", "asc or desc"),
            ("request_id", "string", "filter"),
            ("resource_id", "string", "filter"),
            ("resource_type", "string", "filter"),
            ("action_id", "string", "filter"),
            ("detail_id", "string", "filter"),
            ("message_level", "string", "filter"),
            ("created_since", "string", "filter: a time, from 2.52"),
            ("created_before", "string", "filter: a time, from 2.52"),
        ]),
    Route::new(Api::Share, Verb::Get, "/messages/{message_id}", "share/message:get", 200, "Show a message", handler!(show::show))
        .since(SINCE),
    Route::new(
        Api::Share,
        Verb::Delete,
        "/messages/{message_id}",
        "share/message:delete",
        204,
        "Delete a message",
        handler!(delete::delete),
    )
    .since(SINCE),
];

fn render(req: &ApiRequest, m: &MessageRow) -> Value {
    let look = Look::of(req);
    let or_null = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    json!({
        "id": m.id,
        "project_id": m.project_id,
        "action_id": m.action_id,
        "detail_id": m.detail_id,
        "user_message": user_message(&m.action_id, &m.detail_id, &m.extra),
        "message_level": m.level,
        "created_at": api_text(m.created_at),
        "expires_at": api_text(m.expires_at),
        "request_id": m.request_id,
        "resource_type": or_null(&m.resource_type),
        "resource_id": or_null(&m.resource_id),
        "links": [
            { "rel": "self", "href": format!("{}/messages/{}", look.base_url, m.id) },
            { "rel": "bookmark", "href": format!("{}/messages/{}", look.bookmark_url, m.id) },
        ],
    })
}
