use http::StatusCode;
use serde_json::json;

use crate::{
    api::{
        block::views::volume_type::TypeView,
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::volume_type::update::{self, UpdateType},
};

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "volume_type", &[])?;
    members.deny_unknown(&["name", "description", "is_public"])?;
    let ask = UpdateType {
        name: members.bounded("name")?,
        description: members.bounded("description")?.map(Some),
        is_public: members.boolean("is_public")?,
    };
    let changed = update::update(&req.app, &req.ctx, req.param("type_id"), ask).await?;
    Reply::json(StatusCode::OK, &json!({ "volume_type": TypeView::of(&req).updated(&changed) }))
}
