//! Share group types.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::share_group_type::GroupType,
};

const DEFAULT_SINCE: u16 = 46;

/// `{"share_group_type": ...}`
pub fn one(req: &ApiRequest, t: &GroupType) -> Result<Reply> {
    Reply::json(StatusCode::OK, &json!({ "share_group_type": render(req, t) }))
}

/// `{"share_group_types": [...]}`
pub fn many(req: &ApiRequest, types: &[GroupType]) -> Result<Reply> {
    let shown: Vec<Value> = types.iter().map(|t| render(req, t)).collect();
    Reply::json(StatusCode::OK, &json!({ "share_group_types": shown }))
}

fn render(req: &ApiRequest, t: &GroupType) -> Value {
    let mut shown = json!({
        "id": t.of.row.id,
        "name": t.of.row.name,
        "is_public": t.of.row.is_public,
        "group_specs": t.of.specs().collect::<BTreeMap<_, _>>(),
        "share_types": t.share_types,
    });
    if req.ctx.microversion >= DEFAULT_SINCE {
        // there is no default one
        shown["is_default"] = json!(false);
    }
    shown
}
