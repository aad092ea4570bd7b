use http::StatusCode;
use serde_json::json;

use crate::{
    api::{
        block::{types::extra_specs::specs, views::volume_type::TypeView},
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    domain::text,
    error::Result,
    service::volume_type::create::{self, CreateType},
};

const PUBLIC: &str = "os-volume-type-access:is_public";

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "volume_type", &[])?;
    members.deny_unknown(&["name", "description", "extra_specs", PUBLIC])?;
    let name = text::required("name", members.text("name")?.unwrap_or_default()).map_err(|e| members.refuse("name", &e.to_string()))?;
    let ask = CreateType {
        name,
        description: members.bounded("description")?,
        is_public: members.boolean(PUBLIC)?.unwrap_or(true),
        specs: match members.get("extra_specs") {
            None | Some(serde_json::Value::Null) => Vec::new(),
            Some(value) => specs(value)?,
        },
    };
    let made = create::create(&req.app, &req.ctx, ask).await?;
    Reply::json(StatusCode::OK, &json!({ "volume_type": TypeView::of(&req).created(&made) }))
}
