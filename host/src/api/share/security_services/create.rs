use super::bounded;
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
    service::security_service::create::{self, CreateService},
};

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "security_service")?;
    let members = member(&body, "security_service")?;
    let text = |key: &str| bounded(&members, key);
    let ask = CreateService {
        kind: members.text("type")?.unwrap_or_default().to_owned(),
        name: text("name")?,
        description: text("description")?,
        dns_ip: text("dns_ip")?,
        server: text("server")?,
        domain: text("domain")?,
        user: text("user")?,
        password: text("password")?,
        ou: text("ou")?,
        default_ad_site: text("default_ad_site")?,
    };
    views::security_service::one(&req, &create::create(&req.app, &req.ctx, ask).await?)
}
