//! Volume types: the menu that users choose from and that operators write.

pub mod access;
pub mod create;
pub mod delete;
pub mod extra_specs;
pub mod list;
pub mod seed;
pub mod show;
pub mod update;

use crate::{
    app::App,
    context::RequestContext,
    domain::volume_type::{USER_VISIBLE_SPECS, cacheable_clashes, spec_key_fits},
    error::{Error, Result},
    policy::Target,
    scheduler::spec_match,
    service::refusal,
    store::sql::types::{Type, TypeOf},
};

/// The type a request means: by id or name, or the default one. A private type that the project was not given is not found.
///
/// # Errors
/// 404.
pub async fn usable(app: &App, ctx: &RequestContext, name_or_id: Option<&str>) -> Result<Type> {
    let Some(wanted) = name_or_id.filter(|n| !n.is_empty()) else { return default_type(app).await };
    let found = match app.store.resource_type(TypeOf::Volume, wanted).await? {
        Some(t) => Some(t),
        None => app.store.type_by_name(TypeOf::Volume, wanted).await?,
    };
    match found {
        Some(t) if visible(app, ctx, &t).await? => Ok(t),
        _ => Err(refusal::type_not_found_by_name(wanted)),
    }
}

/// The type of volumes whose request names none.
pub async fn default_type(app: &App) -> Result<Type> {
    let name = app.config.get().block.default_volume_type.clone();
    app.store
        .type_by_name(TypeOf::Volume, &name)
        .await?
        .ok_or_else(|| refusal::type_not_found_by_name(&name).with_remedy(crate::error::Remedy::Operator))
}

/// A type by id, if the caller may know of it.
pub async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<Type> {
    match app.store.resource_type(TypeOf::Volume, id).await? {
        Some(t) if visible(app, ctx, &t).await? => Ok(t),
        _ => Err(refusal::type_not_found(id)),
    }
}

async fn visible(app: &App, ctx: &RequestContext, t: &Type) -> Result<bool> {
    Ok(t.row.is_public || ctx.is_admin() || app.store.type_granted(TypeOf::Volume, &t.row.id, ctx.project_id()).await?)
}

/// Whether the caller reads every extra spec, or only those made for users.
pub fn reads_all_specs(app: &App, ctx: &RequestContext) -> bool {
    app.policy.allows(ctx, "volume_extension:types_extra_specs:read_sensitive", &Target::own(ctx))
}

/// The specs the caller may read.
pub fn readable_specs(t: &Type, all: bool) -> Vec<(String, String)> {
    t.specs.iter().filter(|(k, _)| all || USER_VISIBLE_SPECS.contains(&k.as_str())).cloned().collect()
}

/// Most extra specs of one type: its driver is given them all with every call.
const MAX_SPECS: usize = 256;

fn check_spec_count(count: usize) -> Result<()> {
    if count > MAX_SPECS {
        return Err(refusal::invalid_input(format!(
            "A volume type has at most {MAX_SPECS} extra specs; with these it would have {count}."
        )));
    }
    Ok(())
}

/// Refuses keys outside the alphabet and values that could never match: they would only show when a volume is placed.
fn check_specs(specs: &[(String, String)]) -> Result<()> {
    for (key, value) in specs {
        if !spec_key_fits(key) {
            return Err(refusal::invalid_input(format!("Extra spec key {key:.80?} must be 1 to 255 letters, digits, blanks or -_:.")));
        }
        if value.chars().count() > 255 || value.contains('\0') {
            return Err(refusal::invalid_input(format!(
                "The value of extra spec {key} must have at most 255 characters, none of them NUL."
            )));
        }
        spec_match::validate(key, value).map_err(refusal::invalid_input)?;
    }
    Ok(())
}

fn check_cacheable(specs: &[(String, String)]) -> Result<()> {
    if cacheable_clashes(specs.iter().map(|(k, v)| (k.as_str(), v.as_str()))) {
        return Err(Error::invalid("cacheable cannot be set with multiattach."));
    }
    Ok(())
}
