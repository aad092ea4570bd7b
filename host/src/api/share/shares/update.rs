use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{entity, given_truth, member},
            views,
        },
    },
    error::Result,
    service::share::update::{self, UpdateShare},
};

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "share")?;
    let members = member(&body, "share")?;
    let ask = UpdateShare {
        name: members.changed("display_name")?.or(members.changed("name")?),
        description: members.changed("display_description")?.or(members.changed("description")?),
        is_public: given_truth(&members, "is_public")?,
    };
    let with = views::share::with(true, req.ctx.microversion);
    views::share::one(&req, &update::update(&req.app, &req.ctx, req.param("share_id"), ask, with).await?)
}
