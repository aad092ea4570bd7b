use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use super::with_links;
use crate::{
    api::{
        filter::boolean,
        members::{Members, object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    domain::text,
    error::{Error, Result},
    service::qos_specs::change,
    store::sql::qos_specs::Consumer,
};

/// Names that are not pairs.
const OWN: [&str; 2] = ["name", "consumer"];

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "qos_specs", &[])?;
    let name = text::required("name", members.text("name")?.unwrap_or_default()).map_err(|e| members.refuse("name", &e.to_string()))?;
    let consumer = consumer(&members)?.unwrap_or(Consumer::BackEnd);
    let made = change::create(&req.app, &req.ctx, name, consumer, pairs(&members)?).await?;
    Reply::json(StatusCode::OK, &with_links(&req, &made))
}

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "qos_specs", &[])?;
    let (consumer, specs) = (consumer(&members)?, pairs(&members)?);
    if consumer.is_none() && specs.is_empty() {
        return Err(Error::invalid("Invalid input received: qos_specs has nothing to change."));
    }
    change::update(&req.app, &req.ctx, req.param("qos_id"), consumer, &specs).await?;
    let mut shown = json!(specs);
    if let Some(consumer) = consumer {
        shown["consumer"] = json!(consumer.as_str());
    }
    Reply::json(StatusCode::OK, &json!({ "qos_specs": shown }))
}

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    let force = match req.query_value("force") {
        None => false,
        Some(text) => boolean(text).ok_or_else(|| Error::invalid(format!("Value '{text:.64}' for 'force' is not a boolean.")))?,
    };
    change::delete(&req.app, &req.ctx, req.param("qos_id"), force).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn delete_keys(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let keys: Option<Vec<String>> = match body.get("keys") {
        Some(Value::Array(keys)) => keys.iter().map(|k| k.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    let keys = keys
        .filter(|k| !k.is_empty())
        .ok_or_else(|| Error::invalid("Invalid input for field/attribute keys. A list of texts is needed."))?;
    change::delete_keys(&req.app, &req.ctx, req.param("qos_id"), &keys).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

fn consumer(members: &Members<'_>) -> Result<Option<Consumer>> {
    let Some(word) = members.text("consumer")? else { return Ok(None) };
    Consumer::parse(word).map(Some).ok_or_else(|| members.refuse("consumer", "is not one of 'front-end', 'back-end', 'both'"))
}

/// Everything but name and consumer. Numbers are taken as clients write them.
fn pairs(members: &Members<'_>) -> Result<BTreeMap<String, String>> {
    let mut pairs = BTreeMap::new();
    for (key, value) in members.iter().filter(|(k, _)| !OWN.contains(&k.as_str())) {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(n) => n.to_string(),
            _ => return Err(members.refuse(key, "is not of type 'string'")),
        };
        let fits = |t: &str| t.chars().count() <= 255 && !t.contains('\0');
        if key.is_empty() || !fits(key) || !fits(&value) {
            return Err(members.refuse(key, "has a key of 1 to 255 and a value of at most 255 characters"));
        }
        pairs.insert(key.clone(), value);
    }
    Ok(pairs)
}
