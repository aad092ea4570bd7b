use super::{TEXTS, bounded};
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
    service::security_service::update::{self, UpdateService},
    store::sql::security_services::ServiceChange,
};

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "security_service")?;
    let members = member(&body, "security_service")?;
    let mut change = ServiceChange { kind: members.text("type")?.map(str::to_owned), texts: Vec::new() };
    for (key, column) in TEXTS {
        if members.has(key) {
            change.texts.push((column, bounded(&members, key)?));
        }
    }
    let more = members.iter().any(|(key, _)| !["name", "description"].contains(&key.as_str()));
    let service = update::update(&req.app, &req.ctx, req.param("service_id"), UpdateService { change, more }).await?;
    views::security_service::one(&req, &service)
}
