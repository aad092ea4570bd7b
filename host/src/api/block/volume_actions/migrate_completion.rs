use http::StatusCode;
use serde_json::json;

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::volume::migrate_completion,
};

pub async fn migrate_completion(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-migrate_volume_completion", &[])?;
    members.deny_unknown(&["new_volume", "error"])?;
    let new = members.uuid("new_volume")?.ok_or_else(|| members.refuse("new_volume", "is required"))?;
    members.boolean("error")?;
    let stays = migrate_completion::complete(&req.app, &req.ctx, req.param("volume_id"), new).await?;
    Reply::json(StatusCode::OK, &json!({ "save_volume_id": stays }))
}
