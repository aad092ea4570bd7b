//! Transfers. Links point to the older of the two URLs, whichever was asked.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{page, reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    store::sql::transfers::TransferRow,
};

use super::volume::look;

/// The collection in links.
const PATH: &str = "os-volume-transfer";
/// From here on snapshots go along.
pub const SNAPSHOTS_SINCE: u16 = 55;
/// From here on it says whose it was and whose it is.
const HISTORY_SINCE: u16 = 57;

/// Four members.
pub fn summary(req: &ApiRequest, t: &TransferRow) -> Value {
    let look = look(req);
    json!({
        "id": t.id,
        "name": t.name,
        "volume_id": t.volume_id,
        "links": [
            { "rel": "self", "href": format!("{}/{PATH}/{}", look.base_url, t.id) },
            { "rel": "bookmark", "href": format!("{}/{PATH}/{}", look.bookmark_url, t.id) },
        ],
    })
}

/// All members. One that was accepted is no more, so nobody sees a destination.
pub fn detail(req: &ApiRequest, t: &TransferRow) -> Value {
    let mut shown = summary(req, t);
    shown["created_at"] = json!(api_text(t.created_at));
    if req.ctx.microversion >= SNAPSHOTS_SINCE {
        shown["no_snapshots"] = json!(t.no_snapshots);
    }
    if req.ctx.microversion >= HISTORY_SINCE {
        shown["source_project_id"] = json!(t.project_id);
        shown["destination_project_id"] = Value::Null;
        shown["accepted"] = json!(false);
    }
    shown
}

/// `{"transfers": [...]}`, with links where there is more.
pub fn many(req: &ApiRequest, page: &page::Page, found: &[TransferRow], full: bool) -> Result<Reply> {
    let render = if full { detail } else { summary };
    let path = if full { "os-volume-transfer/detail" } else { PATH };
    let mut shown = json!({ "transfers": found.iter().map(|t| render(req, t)).collect::<Vec<_>>() });
    if let Some(links) = page.next_link(req, path, found.len(), found.last().map(|t| t.id.as_str())) {
        shown["transfers_links"] = links;
    }
    Reply::json(StatusCode::OK, &shown)
}
