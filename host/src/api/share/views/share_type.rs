//! Share types. Each stands under its own name and under `volume_type`, as ever.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    domain::share_type::{FALSE_UNLESS_SAID, HANDLES_SERVERS},
    error::Result,
    service::share_type::{is_default, readable_specs, reads_all_specs},
    store::sql::types::Type,
};

/// The member that says whether every project may use a type.
pub const fn public_key(minor: u16) -> &'static str {
    if minor < 7 { "os-share-type-access:is_public" } else { "share_type_access:is_public" }
}

/// `{"share_type": ..., "volume_type": ...}`
pub fn one(req: &ApiRequest, t: &Type) -> Result<Reply> {
    let shown = render(req, t);
    Reply::json(StatusCode::OK, &json!({ "share_type": shown, "volume_type": shown }))
}

/// `{"share_types": [...], "volume_types": [...]}`
pub fn many(req: &ApiRequest, types: &[Type]) -> Result<Reply> {
    let shown: Vec<Value> = types.iter().map(|t| render(req, t)).collect();
    Reply::json(StatusCode::OK, &json!({ "share_types": shown, "volume_types": shown }))
}

fn render(req: &ApiRequest, t: &Type) -> Value {
    let minor = req.ctx.microversion;
    let all = reads_all_specs(&req.ctx);
    let mut specs: Map<String, Value> = readable_specs(t, all).into_iter().map(|(k, v)| (k, v.into())).collect();
    if !all {
        for (key, _) in FALSE_UNLESS_SAID.iter().filter(|(_, since)| minor >= *since) {
            specs.entry((*key).to_owned()).or_insert(Value::Bool(false));
        }
    }
    let mut shown = json!({
        "id": t.row.id,
        "name": t.row.name,
        "extra_specs": specs,
        "required_extra_specs": required(t),
        public_key(minor): t.row.is_public,
    });
    if minor >= 41 {
        shown["description"] = json!(t.row.description);
    }
    if minor >= 46 {
        shown["is_default"] = json!(is_default(&req.app, t));
    }
    shown
}

/// The specs that every type has.
fn required(t: &Type) -> BTreeMap<&'static str, &str> {
    t.spec(HANDLES_SERVERS).map(|value| (HANDLES_SERVERS, value)).into_iter().collect()
}
