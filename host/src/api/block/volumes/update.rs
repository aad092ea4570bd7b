use http::StatusCode;

use crate::{
    api::{
        block::{fields::Surface, views},
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::volume::{self, update::UpdateVolume},
};

const MEMBERS: &[&str] = &["name", "description", "display_name", "display_description", "metadata"];

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "volume", &[])?;
    members.deny_unknown(MEMBERS)?;
    if req.ctx.microversion >= 53 && !MEMBERS.iter().any(|m| members.has(m)) {
        return Err(Error::invalid("Invalid input for field/attribute volume. At least one of name, description, metadata is needed."));
    }
    let ask = UpdateVolume {
        name: members.changed("name")?.or(members.changed("display_name")?),
        description: members.changed("description")?.or(members.changed("display_description")?),
        metadata: members.metadata("metadata")?,
    };
    let changed = volume::update::update(&req.app, &req.ctx, req.param("volume_id"), ask).await?;
    views::volume::one(&req, StatusCode::OK, Surface::Changed, &changed)
}
