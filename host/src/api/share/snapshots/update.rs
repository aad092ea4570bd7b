use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{entity, member},
            views,
        },
    },
    error::Result,
    service::share_snapshot::update::{self, UpdateShareSnapshot},
};

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "snapshot")?;
    let members = member(&body, "snapshot")?;
    let ask = UpdateShareSnapshot {
        name: members.changed("display_name")?.or(members.changed("name")?),
        description: members.changed("display_description")?.or(members.changed("description")?),
    };
    let changed = update::update(&req.app, &req.ctx, req.param("snapshot_id"), ask).await?;
    views::snapshot::one(&req, StatusCode::OK, &changed)
}
