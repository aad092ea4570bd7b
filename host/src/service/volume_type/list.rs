//! `GET /types`.

use crate::{
    app::App,
    context::RequestContext,
    domain::{dict_literal, volume_type::USER_VISIBLE_SPECS},
    error::{Error, Result},
    policy::Target,
    service::{page::Page, refusal},
    store::sql::volume_types::{VolumeType, VolumeTypeQuery, VolumeTypeSort},
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListTypes {
    pub page: Page,
    pub filters: Vec<(String, String)>,
}

/// # Errors
/// 400 for a bad filter or sort key, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: &ListTypes) -> Result<Vec<VolumeType>> {
    app.policy.check(ctx, "volume_extension:type_get_all", &Target::own(ctx))?;
    let sort = ask.page.keys(VolumeTypeSort::parse, VolumeTypeSort::CreatedAt, VolumeTypeSort::Id)?;
    let after = match ask.page.marker.as_deref() {
        Some(marker) => {
            let row = super::load(app, ctx, marker).await?.row;
            Some(sort.iter().map(|(key, _)| key.value(&row)).collect())
        }
        None => None,
    };
    let mut query = VolumeTypeQuery { sort, after, limit: ask.page.limit, offset: ask.page.offset, ..VolumeTypeQuery::default() };
    publicity(ctx, &ask.filters, &mut query)?;
    for (key, value) in &ask.filters {
        match key.as_str() {
            "is_public" | "all_tenants" => {}
            "extra_specs" if ctx.microversion >= 52 => {
                let pairs = dict_literal::parse(value).ok_or_else(|| Error::invalid(format!("Invalid value '{value:.120}' for filter 'extra_specs'.")))?;
                // a spec made for operators is not there for users, so nothing has it
                if !super::reads_all_specs(app, ctx) && pairs.iter().any(|(k, _)| !USER_VISIBLE_SPECS.contains(&k.as_str())) {
                    return Ok(Vec::new());
                }
                query.specs = pairs;
            }
            "name" if ctx.is_admin() => query.name = Some(value.clone()),
            _ if ctx.is_admin() || ctx.microversion < 31 => {}
            _ => return Err(Error::invalid(format!("Invalid filters {key:.80} are found in query options."))),
        }
    }
    if query.limit == 0 { Ok(Vec::new()) } else { Ok(app.store.volume_types(&query).await?) }
}

/// Users see public types and those given to their project; so does an admin, unless he asks for private ones or for all.
fn publicity(ctx: &RequestContext, filters: &[(String, String)], query: &mut VolumeTypeQuery) -> Result<()> {
    let own = Some(ctx.project_id().to_owned());
    let asked = filters.iter().rev().find(|(k, _)| k == "is_public").map(|(_, v)| v.to_ascii_lowercase());
    match asked.as_deref().filter(|_| ctx.is_admin()) {
        None | Some("1" | "t" | "true" | "on" | "y" | "yes") => query.visible_to = own,
        Some("0" | "f" | "false" | "off" | "n" | "no") => query.is_public = Some(false),
        Some("none") => {}
        Some(other) => return Err(refusal::invalid_input(format!("Invalid is_public filter [{other:.80}]"))),
    }
    Ok(())
}
