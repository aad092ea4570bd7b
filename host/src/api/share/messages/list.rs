use http::StatusCode;
use serde_json::{Value, json};

use super::render;
use crate::{
    api::{filter::iso8601, page::SortKey, paging, reply::Reply, request::ApiRequest},
    error::{Error, Result},
    scheduler::BackendKind,
    service::message,
    store::{
        bind::Value as Bound,
        keyset::ListKey as _,
        sql::messages::{MessageFilter, MessageSort},
    },
};

const TIMES_SINCE: u16 = 52;

/// What messages can be sorted by.
const SORTS: [(&str, MessageSort); 9] = [
    ("id", MessageSort::Id),
    ("created_at", MessageSort::CreatedAt),
    ("expires_at", MessageSort::GuaranteedUntil),
    ("request_id", MessageSort::RequestId),
    ("resource_type", MessageSort::ResourceType),
    ("resource_id", MessageSort::ResourceUuid),
    ("action_id", MessageSort::ActionId),
    ("detail_id", MessageSort::DetailId),
    ("message_level", MessageSort::MessageLevel),
];

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let keys: Vec<SortKey> = SORTS.iter().map(|(name, key)| SortKey::new(name, key.column())).collect();
    let (asked, page) = paging::read(&req, &keys)?;
    let filters = filters(&req)?;
    let found = message::list(&req.app, &req.ctx, BackendKind::Share, page, filters).await?;
    let mut shown = json!({ "messages": found.iter().map(|m| render(&req, m)).collect::<Vec<Value>>() });
    if let Some(links) = asked.next_link(&req, "messages", found.len(), found.last().map(|m| m.id.as_str())) {
        shown["messages_links"] = links;
    }
    Reply::json(StatusCode::OK, &shown)
}

/// Unknown keys are ignored.
fn filters(req: &ApiRequest) -> Result<Vec<MessageFilter>> {
    let mut found = Vec::new();
    for (key, value) in paging::filters(req) {
        let column = match key {
            "request_id" => "request_id",
            "resource_type" => "resource_type",
            "resource_id" => "resource_id",
            "action_id" => "action_id",
            "detail_id" => "detail_id",
            "message_level" => "level",
            "created_since" | "created_before" if req.ctx.microversion >= TIMES_SINCE => {
                let at = iso8601(value).ok_or_else(|| Error::invalid(format!("Invalid value specified for the query key: {key}")))?;
                found.push(if key == "created_since" { MessageFilter::Since(at) } else { MessageFilter::Until(at) });
                continue;
            }
            _ => continue,
        };
        found.push(MessageFilter::Equals(column, Bound::from(value)));
    }
    Ok(found)
}
