//! The cluster's host name is part of every placed volume's address. It cannot change while there are any.

use super::ServeError;
use crate::store::{Store, StoreResult};

/// The name of the row that says which host name this database's rows were written with.
const SETTING: &str = "host";

/// Settles the host name with the database: the first start writes it, later ones must have the same, or a database without
/// anything that names it.
///
/// # Errors
/// [`ServeError::HostChanged`].
pub(super) async fn settle(store: &Store, wanted: &str) -> Result<(), ServeError> {
    match held_by_another(store, wanted).await? {
        None => Ok(()),
        Some(was) => Err(ServeError::HostChanged { was, wanted: wanted.to_owned() }),
    }
}

/// The other host name that volumes are placed under.
async fn held_by_another(store: &Store, wanted: &str) -> StoreResult<Option<String>> {
    let mut tx = store.begin().await?;
    let was = tx.settle_setting(SETTING, wanted).await?;
    // rows are the truth: a database from before the setting has them without it
    if let Some(other) = tx.host_of_what_is_placed_other_than(wanted).await? {
        return Ok(Some(other));
    }
    if was != wanted {
        tracing::warn!(%was, %wanted, "the cluster's host name changed; nothing was placed under the old one");
        tx.set_setting(SETTING, wanted).await?;
    }
    tx.commit().await?;
    Ok(None)
}
