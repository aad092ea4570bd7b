//! From the query's page to the services' page.

use crate::{
    api::{
        page::{self, SortKey},
        request::ApiRequest,
    },
    error::Result,
    service::page::Page,
};

/// Both forms: the one for links, and the one for the service.
pub fn read(req: &ApiRequest, keys: &[SortKey]) -> Result<(page::Page, Page)> {
    let asked = page::Page::parse(req, keys)?;
    let page = service(&asked);
    Ok((asked, page))
}

/// The form for the service.
pub fn service(asked: &page::Page) -> Page {
    Page { order: asked.order.clone(), marker: asked.marker.clone(), limit: asked.limit, offset: asked.offset }
}

/// Whether `all_tenants` is asked for.
pub fn all_tenants(req: &ApiRequest) -> bool {
    req.query_value("all_tenants").is_some_and(|v| crate::api::filter::boolean(v) == Some(true))
}

/// Query pairs that are about the items, not about the page.
pub fn filters(req: &ApiRequest) -> impl Iterator<Item = (&str, &str)> {
    req.query.iter().map(|(k, v)| (k.as_str(), v.as_str())).filter(|(k, _)| !page::KEYS.contains(k) && *k != "all_tenants")
}
