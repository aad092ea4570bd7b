//! The users' key/value pairs on shares, and on what belongs to them: rules, export locations, snapshots, subnets. Some keys
//! are the operator's.

pub mod remove;
pub mod set;
pub mod show;

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
    service::metadata::Manner,
    store::{
        Tx,
        sql::metadata::{MetadataOf, Pairs},
    },
};

/// Refuses keys that only administrators write, unless the caller may do `action`.
///
/// # Errors
/// 403.
pub fn check_writable<'k>(app: &App, ctx: &RequestContext, action: &str, keys: impl Iterator<Item = &'k str>) -> Result<()> {
    let protected = protected_keys(app, ctx, action);
    refuse(&protected, keys)
}

/// The keys that the caller must not write: none for whoever may do `action`.
pub fn protected_keys(app: &App, ctx: &RequestContext, action: &str) -> Vec<String> {
    if app.policy.allows(ctx, action, &Target::own(ctx)) { Vec::new() } else { app.config.get().share.admin_only_metadata.clone() }
}

/// Refuses the keys of `protected`.
///
/// # Errors
/// 403.
pub fn refuse<'k>(protected: &[String], mut keys: impl Iterator<Item = &'k str>) -> Result<()> {
    match keys.find(|key| protected.iter().any(|p| p == key)) {
        Some(key) => Err(Error::forbidden(format!("Cannot set or delete the key {key:.255}: only administrators write it."))),
        None => Ok(()),
    }
}

/// Most pairs of one thing: a driver is given all of them with every call.
pub const MOST: usize = 128;

/// # Errors
/// 413.
pub fn check_count(count: usize) -> Result<()> {
    if count > MOST {
        return Err(Error::over_limit(
            "MetadataLimitExceeded",
            format!("Maximum number of metadata items ({MOST}) exceeded: there would be {count}."),
        ));
    }
    Ok(())
}

/// Writes pairs, merged into what is there or in its place; pairs of `protected` keys stay. All pairs afterwards.
///
/// # Errors
/// 413 for more pairs than a thing may have.
pub async fn write(
    tx: &mut Tx,
    of: MetadataOf,
    id: &str,
    given: &[(String, String)],
    manner: Manner,
    protected: &[String],
) -> Result<Pairs> {
    let before = tx.metadata(of, id).await?;
    if manner == Manner::Replace {
        for (key, _) in &before {
            let stays = protected.contains(key) || given.iter().any(|(k, _)| k == key);
            if !stays {
                tx.metadata_remove(of, id, key).await?;
            }
        }
    }
    tx.metadata_put(of, id, given).await?;
    let now = tx.metadata(of, id).await?;
    // drivers write, too: what is there already may stay
    if now.len() > before.len() {
        check_count(now.len())?;
    }
    Ok(now)
}

/// Nothing has this key.
pub fn no_such_key(key: &str) -> Error {
    Error::not_found(format!("Metadata item is not found: there is none with the key {key:.255}."))
}
