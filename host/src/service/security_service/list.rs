//! `GET /security-services` and `/security-services/detail`.

use std::collections::HashMap;

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{network_refusal as refusal, page::Page, share_network},
    store::{
        bind::Value,
        sql::security_services::{SecurityServiceRow, ServiceFilter, ServiceQuery, ServiceSort},
    },
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListServices {
    pub page: Page,
    pub filters: Vec<ServiceFilter>,
    /// Those that this share network uses.
    pub network_id: Option<String>,
    /// Of every project, for whoever may.
    pub all_tenants: bool,
    /// With the networks that use each.
    pub detail: bool,
}

/// A page.
#[derive(Debug, Default)]
pub struct Listed {
    pub services: Vec<SecurityServiceRow>,
    /// The networks that use each, by service; only for a detailed list.
    pub networks: HashMap<String, Vec<String>>,
}

/// # Errors
/// 403, 404 for an unknown share network or marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: ListServices) -> Result<Listed> {
    app.policy.check(ctx, if ask.detail { "security_service:detail" } else { "security_service:index" }, &Target::own(ctx))?;
    let mut filters = ask.filters;
    if let Some(id) = ask.network_id {
        share_network::load_row(app, ctx, &id).await?;
        filters.push(ServiceFilter::Network(id));
    } else if !(ask.all_tenants && app.policy.allows(ctx, "security_service:get_all_security_services", &Target::own(ctx))) {
        filters.push(ServiceFilter::Equals("v.project_id", Value::from(ctx.project_id())));
    }
    let after = match ask.page.marker.as_deref() {
        None => None,
        Some(marker) => {
            let row = app.store.security_service(marker).await?;
            let row = row.as_ref().map(|r| (r.project_id.as_str(), r));
            let values = ask.page.after::<ServiceSort>(app, ctx, "security_service", marker, row).await?;
            Some(values.ok_or_else(|| refusal::service_not_found(marker))?)
        }
    };
    if ask.page.limit == 0 {
        return Ok(Listed::default());
    }
    let query = ServiceQuery { filters, order: ask.page.order, after, limit: ask.page.limit, offset: ask.page.offset };
    let services = app.store.security_services(&query).await?;
    let networks = if ask.detail { app.store.networks_of_services(services.iter().map(|s| s.id.as_str())).await? } else { HashMap::new() };
    Ok(Listed { services, networks })
}
