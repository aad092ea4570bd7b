use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{
        block::views::attachment,
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::attachment::create::{self, CreateAttachment},
};

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "attachment", &[])?;
    let with_mode = req.ctx.microversion >= 54;
    members.deny_unknown(if with_mode {
        &["volume_uuid", "instance_uuid", "connector", "mode"]
    } else {
        &["volume_uuid", "instance_uuid", "connector"]
    })?;
    let volume_id =
        members.uuid("volume_uuid")?.ok_or_else(|| Error::invalid("Invalid input received: 'volume_uuid' is a required property"))?;
    let ask = CreateAttachment {
        volume_id: volume_id.to_owned(),
        instance_id: members.uuid("instance_uuid")?.map(str::to_owned),
        connector: match members.get("connector") {
            None | Some(Value::Null) => None,
            Some(Value::Object(map)) if map.is_empty() => None,
            Some(Value::Object(map)) => Some(map.clone()),
            Some(_) => return Err(members.refuse("connector", "is not of type 'object', 'null'")),
        },
        mode: if with_mode { members.text("mode")?.map(str::to_owned) } else { None },
    };
    if let Some(mode) = ask.mode.as_deref()
        && !["rw", "ro"].contains(&mode)
    {
        return Err(members.refuse("mode", "is not one of ['rw', 'ro']"));
    }
    let made = create::create(&req.app, &req.ctx, ask).await?;
    Reply::json(StatusCode::OK, &json!({ "attachment": attachment::detail(&made) }))
}
