use http::StatusCode;
use serde_json::json;

use crate::{
    api::{
        block::views::transfer::{self, SNAPSHOTS_SINCE},
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::transfer::create::{self, CreateTransfer},
};

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "transfer", &[])?;
    let with_snapshots = req.ctx.microversion >= SNAPSHOTS_SINCE;
    members.deny_unknown(if with_snapshots { &["volume_id", "name", "no_snapshots"] } else { &["volume_id", "name"] })?;
    let volume_id =
        members.uuid("volume_id")?.ok_or_else(|| Error::invalid("Invalid input received: 'volume_id' is a required property"))?;
    let ask = CreateTransfer {
        volume_id: volume_id.to_owned(),
        name: members.bounded("name")?,
        no_snapshots: !with_snapshots || members.boolean("no_snapshots")?.unwrap_or(false),
    };
    let (made, key) = create::create(&req.app, &req.ctx, ask).await?;
    let mut shown = transfer::detail(&req, &made);
    shown["auth_key"] = json!(key);
    Reply::json(StatusCode::ACCEPTED, &json!({ "transfer": shown }))
}
