//! Share group types: what groups of shares may be made of.

pub mod access;
pub mod create;
pub mod delete;
pub mod group_specs;
pub mod list;
pub mod show;

use crate::{
    app::App,
    context::RequestContext,
    domain::volume_type::spec_key_fits,
    error::{Error, Result},
    policy::Target,
    store::sql::types::{Type, TypeOf},
};

/// A type, and the ids of the share types that its groups may have.
#[derive(Debug, Clone)]
pub struct GroupType {
    pub of: Type,
    pub share_types: Vec<String>,
}

/// Most specs of one type.
const MAX_SPECS: usize = 256;

/// A type by id, if the caller may know of it.
async fn load(app: &App, ctx: &RequestContext, id: &str) -> Result<Type> {
    match app.store.resource_type(TypeOf::ShareGroup, id).await? {
        Some(t) if visible(app, ctx, &t).await? => Ok(t),
        _ => Err(not_found(id)),
    }
}

async fn visible(app: &App, ctx: &RequestContext, t: &Type) -> Result<bool> {
    Ok(t.row.is_public || ctx.is_admin() || app.store.type_granted(TypeOf::ShareGroup, &t.row.id, ctx.project_id()).await?)
}

/// The caller may do `action` with types.
fn authorise(app: &App, ctx: &RequestContext, action: &str) -> Result<()> {
    app.policy.check(ctx, action, &Target::own(ctx))
}

fn not_found(id: &str) -> Error {
    Error::not_found(format!("Share group type {id:.255} could not be found."))
}

/// Refuses keys outside the alphabet and values out of bounds.
fn check_specs(specs: &[(String, String)]) -> Result<()> {
    for (key, value) in specs {
        if !spec_key_fits(key) {
            return Err(Error::invalid(format!(
                "Key names can only contain alphanumeric characters, underscores, periods, colons and hyphens, and have 1 to 255 of them; {key:.80?} does not."
            )));
        }
        if value.chars().count() > 255 || value.contains('\0') {
            return Err(Error::invalid(format!("Invalid group_spec: {key}: {value:.80}")));
        }
    }
    Ok(())
}

fn check_spec_count(count: usize) -> Result<()> {
    if count > MAX_SPECS {
        return Err(Error::invalid(format!("A share group type has at most {MAX_SPECS} specs; with these it would have {count}.")));
    }
    Ok(())
}
