use http::StatusCode;
use serde_json::{Value, json};

use super::render;
use crate::{
    api::{
        block::resource_filters::{self, Wanted},
        page::{self, SortKey},
        paging,
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    scheduler::BackendKind,
    service::message,
    store::{
        bind::Value as Bound,
        keyset::ListKey as _,
        sql::messages::{MessageFilter, MessageSort},
    },
};

/// Pages, sorts and filters exist from here on; before, a query is not looked at.
const PAGES_SINCE: u16 = 5;

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let keys: Vec<SortKey> = MessageSort::BLOCK.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    let paged = req.ctx.microversion >= PAGES_SINCE;
    let query = if paged { req.query.clone() } else { Vec::new() };
    let asked = page::Page::from_query(&query, &keys, req.ctx.microversion, page::most(&req))?;
    let filters = if paged { resource_filters::read(&req, "message", &[])? } else { Vec::new() };
    let filters = filters.into_iter().map(condition).collect();
    let found = message::list(&req.app, &req.ctx, BackendKind::Block, paging::service(&asked), filters).await?;
    let mut shown = json!({ "messages": found.iter().map(|m| render(&req, m)).collect::<Vec<Value>>() });
    if paged && let Some(links) = asked.next_link(&req, "messages", found.len(), found.last().map(|m| m.id.as_str())) {
        shown["messages_links"] = links;
    }
    Reply::json(StatusCode::OK, &shown)
}

/// Admins filter by any column.
fn condition(one: Wanted<'_>) -> MessageFilter {
    let column = match one.key {
        "id" => "id",
        "resource_uuid" => "resource_id",
        "resource_type" => "resource_type",
        "event_id" => "event_id",
        "request_id" => "request_id",
        "message_level" => "level",
        "action_id" => "action_id",
        "detail_id" => "detail_id",
        "project_id" => "project_id",
        _ => return MessageFilter::Never,
    };
    if one.part { MessageFilter::Contains(column, one.value.to_owned()) } else { MessageFilter::Equals(column, Bound::from(one.value)) }
}
