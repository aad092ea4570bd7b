//! Access rules.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    clock::api_text,
    domain::share::RulesStatus,
    error::Result,
    service::share_access::Rule,
};

/// What stands for whom a rule lets in, for those who may not know.
const HIDDEN: &str = "******";

/// `{"access": ...}`; `rules_status` is how the rules of its share stand.
pub fn one(req: &ApiRequest, rule: &Rule, rules_status: &str) -> Result<Reply> {
    let mut shown = summary(req, rule, rules_status);
    shown["share_id"] = json!(rule.row.share_id);
    Reply::json(StatusCode::OK, &json!({ "access": shown }))
}

/// `{"access_list": [...]}`
pub fn many(req: &ApiRequest, rules: &[Rule], rules_status: &str) -> Result<Reply> {
    let shown: Vec<Value> = rules.iter().map(|r| summary(req, r, rules_status)).collect();
    Reply::json(StatusCode::OK, &json!({ "access_list": shown }))
}

fn summary(req: &ApiRequest, Rule { row, metadata, hidden }: &Rule, rules_status: &str) -> Value {
    let minor = req.ctx.microversion;
    let mut shown = json!({
        "id": row.id,
        "access_level": row.access_level,
        "access_to": if *hidden { HIDDEN } else { &row.access_to },
        "access_type": row.access_type,
        "state": if minor < 28 { older_state(rules_status) } else { &row.state },
    });
    if minor >= 21 {
        shown["access_key"] = if *hidden { json!(HIDDEN) } else { json!(row.access_key) };
    }
    if minor >= 33 {
        shown["created_at"] = json!(api_text(row.created_at));
        shown["updated_at"] = json!(row.updated_at.map(api_text));
    }
    if minor >= 45 {
        shown["metadata"] = json!(metadata.iter().map(|(k, v)| (k, v)).collect::<BTreeMap<_, _>>());
    }
    shown
}

/// Before 2.28 every rule shows how all of them stand.
fn older_state(rules_status: &str) -> &str {
    if rules_status == RulesStatus::Syncing.as_str() { "new" } else { rules_status }
}
