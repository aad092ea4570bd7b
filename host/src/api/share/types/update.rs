use super::create::type_of;
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, given_truth, object},
            views,
        },
    },
    domain::text,
    error::{Error, Result},
    service::share_type::update::{self, UpdateType},
};

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = type_of(&body)?;
    let ask = UpdateType {
        name: bounded(&members, "name")?,
        description: bounded(&members, "description")?,
        is_public: given_truth(&members, "share_type_access:is_public")?,
    };
    views::share_type::one(&req, &update::update(&req.app, &req.ctx, req.param("type_id"), ask).await?)
}

fn bounded(members: &Members<'_>, key: &str) -> Result<Option<String>> {
    match members.text(key)? {
        Some(t) if t.chars().count() > text::MAX => {
            Err(Error::invalid(format!("Share type {key} cannot be greater than 255 characters in length.")))
        }
        other => Ok(other.map(str::to_owned)),
    }
}
