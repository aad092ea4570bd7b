use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{
        block::{
            resource_filters::{self, Wanted},
            views::attachment,
        },
        page::SortKey,
        paging,
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::attachment::list::{self, ListAttachments},
    store::keyset::ListKey as _,
    store::{
        bind::Value as Bound,
        sql::attachments::{AttachmentFilter, AttachmentRow, AttachmentSort},
    },
};

pub async fn summaries(req: ApiRequest) -> Result<Reply> {
    list(req, "attachments", attachment::summary).await
}

pub async fn details(req: ApiRequest) -> Result<Reply> {
    list(req, "attachments/detail", attachment::detail).await
}

async fn list(req: ApiRequest, path: &str, render: fn(&AttachmentRow) -> Value) -> Result<Reply> {
    let keys: Vec<SortKey> = AttachmentSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    let (asked, page) = paging::read(&req, &keys)?;
    let mut ask = ListAttachments { page, all_tenants: paging::all_tenants(&req), ..ListAttachments::default() };
    ask.filters = resource_filters::read(&req, "attachment", &[])?.into_iter().map(condition).collect();
    let found = list::list(&req.app, &req.ctx, ask).await?;
    let mut shown = json!({ "attachments": found.iter().map(render).collect::<Vec<_>>() });
    if let Some(links) = asked.next_link(&req, path, found.len(), found.last().map(|a| a.id.as_str())) {
        shown["attachments_links"] = links;
    }
    Reply::json(StatusCode::OK, &shown)
}

/// Admins filter by any column.
fn condition(one: Wanted<'_>) -> AttachmentFilter {
    let column = match one.key {
        "id" => "id",
        "volume_id" => "volume_id",
        "instance_id" | "instance_uuid" => "instance_id",
        "status" | "attach_status" => "status",
        "attach_mode" => "mode",
        "attached_host" => "connector_host",
        "mountpoint" => "mountpoint",
        "project_id" => "project_id",
        _ => return AttachmentFilter::Never,
    };
    if one.part {
        AttachmentFilter::Contains(column, one.value.to_owned())
    } else {
        AttachmentFilter::Equals(column, Bound::from(one.value))
    }
}
