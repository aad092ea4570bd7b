use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{block::resource_filters, filter::boolean, reply::Reply, request::ApiRequest},
    error::{Error, Result},
    scheduler::PoolRow,
    service::pool,
};

pub async fn pools(req: ApiRequest) -> Result<Reply> {
    let minor = req.ctx.microversion;
    let detail = match req.query_value("detail") {
        None => false,
        Some(text) => boolean(text).ok_or_else(|| Error::invalid(format!("Value '{text:.64}' for 'detail' is not a boolean.")))?,
    };
    let config = req.app.config.get();
    let table = config.block.filters_of("pool");
    let served = |key: &str| (key == "name" && minor >= 28) || (key == "volume_type" && minor >= 35);
    let known = |key: &str| key == "detail" || (served(key) && table.contains(&key));
    // the one list whose filters are checked for admins, too
    let unknown: Vec<&str> = req.query.iter().map(|(k, _)| k.as_str()).filter(|k| !known(k)).collect();
    if minor >= 31 && !unknown.is_empty() {
        return Err(resource_filters::refusal(unknown));
    }
    let value = |key: &str| req.query_value(key).filter(|_| known(key));
    let found = pool::list(&req.app, &req.ctx, value("name"), value("volume_type")).await?;
    let shown: Vec<Value> = found.iter().map(|p| render(p, detail)).collect();
    Reply::json(StatusCode::OK, &json!({ "pools": shown }))
}

fn render(pool: &PoolRow, detail: bool) -> Value {
    if !detail {
        return json!({ "name": pool.name });
    }
    let mut capabilities = pool.capabilities();
    // drivers and matching know every spelling, clients read one
    if let Some(Value::Array(spellings)) = capabilities.get("storage_protocol") {
        let first = spellings.first().cloned().unwrap_or(Value::Null);
        capabilities.insert("storage_protocol".to_owned(), first);
    }
    json!({ "name": pool.name, "capabilities": capabilities })
}
