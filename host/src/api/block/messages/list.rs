use http::StatusCode;
use serde_json::{Value, json};

use super::render;
use crate::{
    api::{
        block::paging,
        page::{self, Page, SortKey},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::message,
    store::sql::messages::MessageFilter,
};

const KEYS: &[SortKey] = &[
    SortKey::new("id", "id"),
    SortKey::new("created_at", "created_at"),
    SortKey::new("event_id", "event_id"),
    SortKey::new("resource_uuid", "resource_id"),
    SortKey::new("resource_type", "resource_type"),
    SortKey::new("request_id", "request_id"),
    SortKey::new("guaranteed_until", "expires_at"),
    SortKey::new("message_level", "level"),
];

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let mut filter = MessageFilter::default();
    let mut asked = None;
    if req.ctx.microversion >= 5 {
        asked = Some(Page::parse(&req, KEYS)?);
        read(&req, &mut filter)?;
    }
    let marker = asked.as_ref().and_then(|p| p.marker.as_deref());
    let found = message::list(&req.app, &req.ctx, filter, marker, asked.as_ref().map_or_else(|| page::most(&req), |p| p.limit)).await?;
    let mut shown = json!({ "messages": found.iter().map(|m| render(&req, m)).collect::<Vec<Value>>() });
    if let Some(links) = asked.and_then(|p| p.next_link(&req, "messages", found.len(), found.last().map(|m| m.id.as_str()))) {
        shown["messages_links"] = links;
    }
    Reply::json(StatusCode::OK, &shown)
}

fn read(req: &ApiRequest, filter: &mut MessageFilter) -> Result<()> {
    for (key, value) in paging::filters(req) {
        let value = Some(value.to_owned());
        match key {
            "resource_uuid" => filter.resource_id = value,
            "resource_type" => filter.resource_type = value,
            "event_id" => filter.event_id = value,
            "request_id" => filter.request_id = value,
            "message_level" => filter.level = value,
            _ if req.ctx.is_admin() || req.ctx.microversion < 31 => {}
            _ => return Err(Error::invalid(format!("Invalid filters {key:.80} are found in query options."))),
        }
    }
    Ok(())
}
