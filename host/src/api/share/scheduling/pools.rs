use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    scheduler::PoolRow,
    service::pool::{self, SharePools},
};

/// From here on pools may be asked for by a share type; before, the filter is not known.
const TYPE_SINCE: u16 = 23;

pub async fn list(req: ApiRequest) -> Result<Reply> {
    show(req, false).await
}

pub async fn detail(req: ApiRequest) -> Result<Reply> {
    show(req, true).await
}

async fn show(req: ApiRequest, detail: bool) -> Result<Reply> {
    let wanted = SharePools {
        host: req.query_value("host"),
        backend: req.query_value("backend"),
        pool: req.query_value("pool"),
        share_type: req.query_value("share_type").filter(|_| req.ctx.microversion >= TYPE_SINCE),
    };
    let found = pool::of_shares(&req.app, &req.ctx, detail, &wanted).await?;
    Reply::json(StatusCode::OK, &json!({ "pools": found.iter().map(|p| render(p, detail)).collect::<Vec<_>>() }))
}

fn render(row: &PoolRow, detail: bool) -> Value {
    let (host, backend, pool) = pool::parts(&row.name);
    let mut shown = json!({ "name": row.name, "host": host, "backend": backend, "pool": pool });
    if detail {
        shown["capabilities"] = Value::Object(row.capabilities());
    }
    shown
}
