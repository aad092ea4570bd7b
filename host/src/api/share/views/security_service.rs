//! Security services. Their owner reads the password, as ever.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    service::security_service::list::Listed,
    store::sql::security_services::SecurityServiceRow,
};

/// `{"security_service": ...}`
pub fn one(req: &ApiRequest, service: &SecurityServiceRow) -> Result<Reply> {
    Reply::json(StatusCode::OK, &json!({ "security_service": detail(req.ctx.microversion, service) }))
}

/// `{"security_services": [...]}`
pub fn many(req: &ApiRequest, listed: &Listed, in_full: bool) -> Result<Reply> {
    let render = |s: &SecurityServiceRow| {
        if !in_full {
            return summary(s);
        }
        let mut shown = detail(req.ctx.microversion, s);
        shown["share_networks"] = json!(listed.networks.get(&s.id).cloned().unwrap_or_default());
        shown
    };
    let shown: Vec<Value> = listed.services.iter().map(render).collect();
    Reply::json(StatusCode::OK, &json!({ "security_services": shown }))
}

fn summary(s: &SecurityServiceRow) -> Value {
    // a status that no service has had for long
    json!({ "id": s.id, "name": s.name, "type": s.kind, "status": "new" })
}

fn detail(minor: u16, s: &SecurityServiceRow) -> Value {
    let mut shown = summary(s);
    for (name, since, value) in [
        ("created_at", 0, json!(api_text(s.created_at))),
        ("updated_at", 0, json!(s.updated_at.map(api_text))),
        ("description", 0, json!(s.description)),
        ("dns_ip", 0, json!(s.dns_ip)),
        ("server", 0, json!(s.server)),
        ("domain", 0, json!(s.domain)),
        ("user", 0, json!(s.user_name)),
        ("password", 0, json!(s.password)),
        ("project_id", 0, json!(s.project_id)),
        ("ou", 44, json!(s.ou)),
        ("default_ad_site", 76, json!(s.default_ad_site)),
    ] {
        if minor >= since {
            shown[name] = value;
        }
    }
    shown
}
