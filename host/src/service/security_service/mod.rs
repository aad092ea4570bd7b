//! Security services: what a share server is told of a project's LDAP, Kerberos or Active Directory.

pub mod create;
pub mod delete;
pub mod list;
pub mod show;
pub mod update;

use crate::{
    app::App,
    context::RequestContext,
    domain::share_network::{SecurityServiceKind, kinds},
    error::{Error, Result},
    policy::Target,
    service::network_refusal as refusal,
    store::sql::security_services::SecurityServiceRow,
};

/// From here on a service may have a default site.
const AD_SITE_SINCE: u16 = 76;

/// What policy is asked about a service.
fn target(service: &SecurityServiceRow) -> Target<'_> {
    Target::project(&service.project_id)
}

/// The service, if the caller may know of it: another project's is not found. What he may do with it is the next question.
pub async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<SecurityServiceRow> {
    match app.store.security_service(id).await? {
        Some(row) if row.project_id == ctx.project_id() || app.policy.allows(ctx, "security_service:show", &target(&row)) => Ok(row),
        _ => Err(refusal::service_not_found(id)),
    }
}

/// As [`load`], and the caller may do `action` with it.
async fn load_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<SecurityServiceRow> {
    let row = load(app, ctx, id).await?;
    app.policy.check(ctx, action, &target(&row))?;
    Ok(row)
}

/// The kind of this word.
///
/// # Errors
/// 400.
fn kind(word: &str) -> Result<SecurityServiceKind> {
    SecurityServiceKind::parse(word).ok_or_else(|| {
        Error::invalid(format!(
            "Invalid input received: Invalid type {word:.64} specified for security service. Valid types are {}",
            kinds()
        ))
    })
}

/// A site is for Active Directory without a server named, and for clients that know of it.
///
/// # Errors
/// 400.
fn check_site(ctx: &RequestContext, kind: &str, server: Option<&str>, site: Option<&str>) -> Result<()> {
    if site.is_none_or(str::is_empty) {
        return Ok(());
    }
    if ctx.microversion < AD_SITE_SINCE {
        return Err(Error::invalid("\"default_ad_site\" is only supported from API version 2.76."));
    }
    if kind == SecurityServiceKind::ActiveDirectory.as_str() && server.is_some_and(|s| !s.is_empty()) {
        return Err(Error::invalid(
            "Invalid input received: Cannot create security service because both server and 'default_ad_site' were provided. Specify either server or \
             'default_ad_site'.",
        ));
    }
    Ok(())
}
