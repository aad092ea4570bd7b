use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{
        block::{paging, views::attachment},
        page::SortKey,
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::attachment::list::{self, ListAttachments},
    store::keyset::ListKey as _,
    store::sql::attachments::{AttachmentRow, AttachmentSort},
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
    for (key, value) in paging::filters(&req) {
        match key {
            "volume_id" => ask.volume_id = Some(value.to_owned()),
            "instance_id" | "instance_uuid" => ask.instance_id = Some(value.to_owned()),
            "status" | "attach_status" => ask.status = Some(value.to_owned()),
            "project_id" if req.ctx.is_admin() => ask.project_id = Some(value.to_owned()),
            _ if req.ctx.is_admin() || req.ctx.microversion < 31 => {}
            _ => return Err(Error::invalid(format!("Invalid filters {key:.80} are found in query options."))),
        }
    }
    let found = list::list(&req.app, &req.ctx, ask).await?;
    let mut shown = json!({ "attachments": found.iter().map(render).collect::<Vec<_>>() });
    if let Some(links) = asked.next_link(&req, path, found.len(), found.last().map(|a| a.id.as_str())) {
        shown["attachments_links"] = links;
    }
    Reply::json(StatusCode::OK, &shown)
}
