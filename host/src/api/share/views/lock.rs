//! Locks.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{fields::Look, page, reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    store::sql::resource_locks::LockRow,
};

const PATH: &str = "resource-locks";

/// `{"resource_lock": ...}`
pub fn one(req: &ApiRequest, lock: &LockRow) -> Result<Reply> {
    Reply::json(StatusCode::OK, &json!({ "resource_lock": render(req, lock) }))
}

/// `{"resource_locks": [...]}`, with links and count where there are any.
pub fn many(req: &ApiRequest, page: &page::Page, locks: &[LockRow], count: Option<i64>) -> Result<Reply> {
    let mut shown = json!({ "resource_locks": locks.iter().map(|l| render(req, l)).collect::<Vec<_>>() });
    if let Some(links) = page.next_link(req, PATH, locks.len(), locks.last().map(|l| l.id.as_str())) {
        shown["resource_locks_links"] = links;
    }
    if let Some(count) = count {
        shown["count"] = json!(count);
    }
    Reply::json(StatusCode::OK, &shown)
}

fn render(req: &ApiRequest, l: &LockRow) -> Value {
    let look = Look::of(req);
    json!({
        "id": l.id,
        "user_id": l.user_id,
        "project_id": l.project_id,
        "lock_context": l.lock_context,
        "resource_type": l.resource_type,
        "resource_id": l.resource_id,
        "resource_action": l.resource_action,
        "lock_reason": l.lock_reason,
        "created_at": api_text(l.created_at),
        "updated_at": l.updated_at.map(api_text),
        "links": [
            { "rel": "self", "href": format!("{}/{PATH}/{}", look.base_url, l.id) },
            { "rel": "bookmark", "href": format!("{}/{PATH}/{}", look.bookmark_url, l.id) },
        ],
    })
}
