//! Share types: the menu that users choose from and that operators write.

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
    domain::{
        share_type::{HANDLES_SERVERS, USER_VISIBLE_SPECS, boolean, value_fits},
        volume_type::spec_key_fits,
    },
    error::{Error, Result},
    policy::Target,
    service::share_refusal as refusal,
    store::sql::types::{Type, TypeOf},
};

/// The type a request means, by id or name. A private type that the project was not given is not found.
///
/// # Errors
/// 404.
pub async fn usable(app: &App, ctx: &RequestContext, name_or_id: &str) -> Result<Type> {
    let found = match app.store.resource_type(TypeOf::Share, name_or_id).await? {
        Some(t) => Some(t),
        None => app.store.type_by_name(TypeOf::Share, name_or_id).await?,
    };
    match found {
        Some(t) if visible(app, ctx, &t).await? => Ok(t),
        _ => Err(refusal::type_not_found()),
    }
}

/// The type of shares whose request names none; none when the operator names none, or one that is not there.
pub async fn default_type(app: &App) -> Result<Option<Type>> {
    let name = app.config.get().share.default_share_type.clone();
    if name.is_empty() {
        return Ok(None);
    }
    let found = app.store.type_by_name(TypeOf::Share, &name).await?;
    if found.is_none() {
        tracing::warn!(name, "there is no share type of the name that share.default_share_type says");
    }
    Ok(found)
}

/// Whether this is the default type.
pub fn is_default(app: &App, t: &Type) -> bool {
    t.row.name == app.config.get().share.default_share_type
}

/// Whether shares of the type live on servers of their own.
pub fn handles_servers(t: &Type) -> bool {
    t.spec(HANDLES_SERVERS).and_then(boolean).unwrap_or(false)
}

/// A type by id, if the caller may know of it.
pub async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<Type> {
    match app.store.resource_type(TypeOf::Share, id).await? {
        Some(t) if visible(app, ctx, &t).await? => Ok(t),
        _ => Err(refusal::type_not_found()),
    }
}

async fn visible(app: &App, ctx: &RequestContext, t: &Type) -> Result<bool> {
    Ok(t.row.is_public || ctx.is_admin() || app.store.type_granted(TypeOf::Share, &t.row.id, ctx.project_id()).await?)
}

/// Whether the caller reads every extra spec, or only those made for users.
pub fn reads_all_specs(ctx: &RequestContext) -> bool {
    ctx.is_admin()
}

/// The specs the caller may read.
pub fn readable_specs(t: &Type, all: bool) -> Vec<(String, String)> {
    t.specs.iter().filter(|(k, _)| all || USER_VISIBLE_SPECS.contains(&k.as_str())).cloned().collect()
}

/// Most extra specs of one type: its driver is given them all with every call.
const MAX_SPECS: usize = 256;

fn check_spec_count(count: usize) -> Result<()> {
    if count > MAX_SPECS {
        return Err(refusal::invalid_input(format!("A share type has at most {MAX_SPECS} extra specs; with these it would have {count}.")));
    }
    Ok(())
}

/// Refuses keys outside the alphabet and values that the service or the scheduler could not read.
fn check_specs(specs: &[(String, String)]) -> Result<()> {
    for (key, value) in specs {
        if !spec_key_fits(key) {
            return Err(Error::invalid(format!(
                "Key names can only contain alphanumeric characters, underscores, periods, colons and hyphens, and have 1 to 255 of them; {key:.80?} does not."
            )));
        }
        if value.chars().count() > 255 || value.contains('\0') || !value_fits(key, value) {
            return Err(Error::invalid(format!("Invalid extra_spec: {key}: {value:.80}")));
        }
        crate::scheduler::spec_match::validate(key, value).map_err(refusal::invalid_input)?;
    }
    Ok(())
}

/// Refuses specs without the one that every type has.
fn check_required(specs: &[(String, String)]) -> Result<()> {
    if specs.iter().any(|(k, _)| k == HANDLES_SERVERS) {
        return Ok(());
    }
    Err(Error::invalid(format!("Invalid extra_spec: Required extra specs '{HANDLES_SERVERS}' not specified.")))
}

/// The caller may do `action` with types.
fn authorise(app: &App, ctx: &RequestContext, action: &str) -> Result<()> {
    app.policy.check(ctx, action, &Target::own(ctx))
}
