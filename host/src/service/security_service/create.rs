//! `POST /security-services`.

use uuid::Uuid;

use super::{check_site, kind};
use crate::{app::App, clock, context::RequestContext, error::Result, policy::Target, store::sql::security_services::SecurityServiceRow};

/// What was asked for; texts are bounded already.
#[derive(Clone, Default)]
pub struct CreateService {
    pub kind: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub dns_ip: Option<String>,
    pub server: Option<String>,
    pub domain: Option<String>,
    pub user: Option<String>,
    pub password: Option<String>,
    pub ou: Option<String>,
    pub default_ad_site: Option<String>,
}

/// # Errors
/// 400, 403.
pub async fn create(app: &App, ctx: &RequestContext, ask: CreateService) -> Result<SecurityServiceRow> {
    app.policy.check(ctx, "security_service:create", &Target::own(ctx))?;
    let kind = kind(&ask.kind)?;
    check_site(ctx, kind.as_str(), ask.server.as_deref(), ask.default_ad_site.as_deref())?;
    let row = SecurityServiceRow {
        id: Uuid::new_v4().to_string(),
        project_id: ctx.project_id().to_owned(),
        kind: kind.as_str().to_owned(),
        name: ask.name,
        description: ask.description,
        dns_ip: ask.dns_ip,
        server: ask.server,
        domain: ask.domain,
        user_name: ask.user,
        password: ask.password,
        ou: ask.ou,
        default_ad_site: ask.default_ad_site,
        created_at: clock::now(),
        updated_at: None,
    };
    let mut tx = app.store.begin().await?;
    tx.security_service_insert(&row).await?;
    tx.commit().await?;
    Ok(row)
}
