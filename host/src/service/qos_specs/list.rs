//! Reading QoS specs.

use super::{KIND, load, not_found};
use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::page::Page,
    store::sql::qos_specs::{QosQuery, QosSort, QosSpecs},
};

/// A page of them.
///
/// # Errors
/// 403, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, page: Page, consumer: Option<String>) -> Result<Vec<QosSpecs>> {
    app.policy.check(ctx, "volume_extension:qos_specs_manage:get_all", &Target::own(ctx))?;
    let after = match page.marker.as_deref() {
        Some(marker) => {
            let row = app.store.qos_specs(marker).await?.map(|q| q.row);
            let row = row.as_ref().map(|r| (ctx.project_id(), r));
            Some(page.after::<QosSort>(app, ctx, KIND, marker, row).await?.ok_or_else(|| not_found(marker))?)
        }
        None => None,
    };
    let query = QosQuery { consumer, order: page.order, after, limit: page.limit, offset: page.offset };
    if query.limit == 0 { Ok(Vec::new()) } else { Ok(app.store.all_qos_specs(&query).await?) }
}

/// # Errors
/// 403, 404.
pub async fn show(app: &App, ctx: &RequestContext, id: &str) -> Result<QosSpecs> {
    app.policy.check(ctx, "volume_extension:qos_specs_manage:get", &Target::own(ctx))?;
    load(app, id).await
}
