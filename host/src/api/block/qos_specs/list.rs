use http::StatusCode;
use serde_json::{Value, json};

use super::{render, with_links};
use crate::{
    api::{page::SortKey, paging, reply::Reply, request::ApiRequest},
    error::Result,
    service::qos_specs::list,
    store::{keyset::ListKey as _, sql::qos_specs::QosSort},
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let keys: Vec<SortKey> = QosSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    let (asked, page) = paging::read(&req, &keys)?;
    let consumer = req.query_value("consumer").map(str::to_owned);
    let found = list::list(&req.app, &req.ctx, page, consumer).await?;
    let mut shown = json!({ "qos_specs": found.iter().map(render).collect::<Vec<Value>>() });
    if let Some(links) = asked.next_link(&req, "qos-specs", found.len(), found.last().map(|q| q.row.id.as_str())) {
        shown["qos_specs_links"] = links;
    }
    Reply::json(StatusCode::OK, &shown)
}

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let found = list::show(&req.app, &req.ctx, req.param("qos_id")).await?;
    Reply::json(StatusCode::OK, &with_links(&req, &found))
}
