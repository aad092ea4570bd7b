use http::StatusCode;
use serde_json::{Value, json};

use super::ENSURE_SINCE;
use crate::{
    api::{filter::boolean, reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    service::share_service::list::{self, Filters, Service},
};

const ENSURING_FILTER_SINCE: u16 = 93;
pub(super) const REASON_SINCE: u16 = 83;

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let minor = req.ctx.microversion;
    let filters = Filters {
        host: req.query_value("host"),
        binary: req.query_value("binary"),
        zone: req.query_value("zone"),
        status: req.query_value("status"),
        state: req.query_value("state"),
        ensuring: req.query_value("ensuring").filter(|_| minor >= ENSURING_FILTER_SINCE).map(boolean),
    };
    let found = list::list(&req.app, &req.ctx, &filters).await?;
    Reply::json(StatusCode::OK, &json!({ "services": found.iter().map(|s| render(s, minor)).collect::<Vec<_>>() }))
}

fn render(service: &Service, minor: u16) -> Value {
    let mut shown = json!({
        "id": service.number(),
        "binary": service.binary(),
        "host": service.part.host(),
        "zone": service.part.zone(),
        "status": service.status(),
        "state": service.state(),
        "updated_at": api_text(service.part.updated_at()),
    });
    if minor >= REASON_SINCE {
        shown["disabled_reason"] = json!(service.disabled_reason());
    }
    if minor >= ENSURE_SINCE {
        shown["ensuring"] = json!(service.ensuring);
    }
    shown
}
