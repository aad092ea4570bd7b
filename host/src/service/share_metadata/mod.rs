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
    service::volume_metadata::set::Manner,
    store::{
        StoreResult, Tx,
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

/// Writes pairs, merged into what is there or in its place; pairs of `protected` keys stay. All pairs afterwards.
pub async fn write(
    tx: &mut Tx,
    of: MetadataOf,
    id: &str,
    given: &[(String, String)],
    manner: Manner,
    protected: &[String],
) -> StoreResult<Pairs> {
    if manner == Manner::Replace {
        for (key, _) in tx.metadata(of, id).await? {
            let stays = protected.contains(&key) || given.iter().any(|(k, _)| *k == key);
            if !stays {
                tx.metadata_remove(of, id, &key).await?;
            }
        }
    }
    tx.metadata_put(of, id, given).await?;
    tx.metadata(of, id).await
}

/// Nothing has this key.
pub fn no_such_key(key: &str) -> Error {
    Error::not_found(format!("Metadata item is not found: there is none with the key {key:.255}."))
}
