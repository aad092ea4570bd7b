use http::StatusCode;

use crate::{
    api::{
        block::{fields::Surface, views},
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::snapshot::update::{self, UpdateSnapshot},
};

const MEMBERS: &[&str] = &["name", "description", "display_name", "display_description"];

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "snapshot", &[])?;
    members.deny_unknown(MEMBERS)?;
    let ask = UpdateSnapshot {
        name: members.changed("name")?.or(members.changed("display_name")?),
        description: members.changed("description")?.or(members.changed("display_description")?),
    };
    if ask.name.is_none() && ask.description.is_none() {
        return Err(Error::invalid("Invalid input for field/attribute snapshot. A name or a description is needed."));
    }
    let changed = update::update(&req.app, &req.ctx, req.param("snapshot_id"), ask).await?;
    views::snapshot::one(&req, StatusCode::OK, Surface::Changed, &changed)
}
