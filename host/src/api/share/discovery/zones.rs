use http::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    policy::Target,
    scheduler::BackendKind,
    service,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    req.app.policy.check(&req.ctx, "availability_zone:index", &Target::own(&req.ctx))?;
    let zones = service::zones(&req.app, BackendKind::Share).await?;
    let shown: Vec<Value> = zones.into_iter().map(|(name, _)| zone(&name, req.app.started_at)).collect();
    Reply::json(StatusCode::OK, &json!({ "availability_zones": shown }))
}

/// A zone has no row of its own: its id follows from its name, and it is there since this process is.
fn zone(name: &str, since: crate::clock::Micros) -> Value {
    json!({ "id": Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()), "name": name, "created_at": api_text(since), "updated_at": null })
}
