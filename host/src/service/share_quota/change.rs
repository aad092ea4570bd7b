//! Setting and resetting limits.
//!
//! Unless it is forced, a limit is not set below what is used, a project's not below what its users were promised together,
//! and a user's or a type's not above the project's.

use std::collections::HashMap;

use super::{NOT_OF_TYPES, Scope, Whose, show};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    quota::{
        UNLIMITED, Usage,
        defaults::{SHARE, share_resource},
    },
};

/// Sets the limits, and shows what holds then.
///
/// # Errors
/// 400 for an unknown resource and for a limit that does not fit, 403, 404 for an unknown type.
pub async fn set(app: &App, ctx: &RequestContext, whose: &Whose, limits: &[(String, i64)], force: bool) -> Result<Vec<Usage>> {
    // authorise
    app.policy.check(ctx, "quota_set:update", &Target::project(&whose.project_id))?;
    // validate
    let scope = Scope::find(app, ctx, whose).await?;
    check_names(limits)?;
    if let Some((name, _)) = limits.iter().find(|(name, _)| scope.is_of_type() && NOT_OF_TYPES.contains(&name.as_str())) {
        return Err(Error::invalid(format!("'{name}' quota cannot be set for share type. It can be set only for project or user.")));
    }
    // decide
    let bounds = Bounds::load(app, &scope).await?;
    for (name, limit) in limits {
        bounds.check(name, *limit, force)?;
    }
    // commit
    let mut tx = app.store.begin().await?;
    for (name, limit) in limits {
        tx.set_quota_limit_within(scope.exact(), &share_resource(name), *limit).await?;
    }
    tx.commit().await?;
    show::of_scope(app, &scope).await
}

/// The wider scope's limits hold again.
///
/// # Errors
/// 400 for a user and a type at once, 403, 404 for an unknown type.
pub async fn reset(app: &App, ctx: &RequestContext, whose: &Whose) -> Result<()> {
    app.policy.check(ctx, "quota_set:delete", &Target::project(&whose.project_id))?;
    let scope = Scope::find(app, ctx, whose).await?;
    let mut tx = app.store.begin().await?;
    tx.delete_share_quota_limits(scope.exact()).await?;
    Ok(tx.commit().await?)
}

/// Sets a class's limits.
///
/// # Errors
/// 400 for an unknown resource, 403.
pub async fn class(app: &App, ctx: &RequestContext, class: &str, limits: &[(String, i64)]) -> Result<()> {
    app.policy.check(ctx, "quota_class_set:update", &Target::own(ctx))?;
    check_names(limits)?;
    let mut tx = app.store.begin().await?;
    for (name, limit) in limits {
        tx.set_quota_class_limit(class, &share_resource(name), *limit).await?;
    }
    Ok(tx.commit().await?)
}

fn check_names(limits: &[(String, i64)]) -> Result<()> {
    let unknown: Vec<&str> = limits.iter().map(|(name, _)| name.as_str()).filter(|name| !SHARE.contains(name)).collect();
    if unknown.is_empty() { Ok(()) } else { Err(Error::invalid(format!("Bad key(s) {:.255} in quota_set.", unknown.join(",")))) }
}

/// Between what a limit of this scope may be.
struct Bounds {
    used: HashMap<String, i64>,
    /// Of a project: what its users were promised.
    promised: HashMap<String, i64>,
    /// Of a user or a type: the project's limits.
    most: HashMap<String, i64>,
}

impl Bounds {
    async fn load(app: &App, scope: &Scope) -> Result<Self> {
        let used = show::by_name(app.store.quota_used_within(scope.exact()).await?);
        if scope.is_of_project() {
            let promised = show::by_name(app.store.quota_promised_to_users(&scope.project_id).await?);
            return Ok(Self { used, promised, most: HashMap::new() });
        }
        let project = Scope { user_id: String::new(), type_id: String::new(), ..scope.clone() };
        let most = show::of_scope(app, &project).await?.into_iter().map(|u| (u.resource, u.limit)).collect();
        Ok(Self { used, promised: HashMap::new(), most })
    }

    fn check(&self, name: &str, limit: i64, force: bool) -> Result<()> {
        if force {
            return Ok(());
        }
        let of = |figures: &HashMap<String, i64>| figures.get(name).copied().unwrap_or(0);
        let (used, promised) = (of(&self.used), of(&self.promised));
        let most = self.most.get(name).copied().unwrap_or(UNLIMITED);
        if limit >= 0 && limit < used {
            return Err(Error::invalid(format!("Quota value {limit} for {name} is smaller than already used and reserved {used}.")));
        }
        let least = used.max(promised);
        if limit < least && (limit >= 0 || most >= 0) {
            return Err(Error::invalid(format!("Quota limit for {name} must not be less than {least}.")));
        }
        if most >= 0 && limit > most {
            return Err(Error::invalid(format!("Quota limit for {name} must not be greater than {most}, the project's.")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(used: i64, promised: i64, most: Option<i64>) -> Bounds {
        let one = |n: i64| HashMap::from([("shares".to_owned(), n)]);
        Bounds { used: one(used), promised: one(promised), most: most.map(one).unwrap_or_default() }
    }

    #[test]
    fn a_limit_is_at_least_what_is_used_and_what_users_were_promised() {
        let b = bounds(3, 5, None);
        assert!(b.check("shares", 2, false).is_err() && b.check("shares", 4, false).is_err());
        assert!(b.check("shares", 5, false).is_ok() && b.check("shares", UNLIMITED, false).is_ok());
        assert!(b.check("shares", 2, true).is_ok(), "forced");
    }

    #[test]
    fn within_a_project_a_limit_is_at_most_the_projects() {
        let b = bounds(0, 0, Some(10));
        assert!(b.check("shares", 11, false).is_err() && b.check("shares", UNLIMITED, false).is_err());
        assert!(b.check("shares", 10, false).is_ok() && b.check("shares", 11, true).is_ok());
        let unlimited = bounds(0, 0, Some(UNLIMITED));
        assert!(unlimited.check("shares", UNLIMITED, false).is_ok() && unlimited.check("shares", 99, false).is_ok());
    }
}
