//! An operator keeps new resources away from a back end, or lets them come again. What lies there is not touched.

use crate::{
    error::{Error, Result},
    store::{
        Store,
        sql::backends::{BackendKind, BackendRow},
    },
};

/// The back end of this kind: to each of the two APIs the other's back ends are not there.
///
/// # Errors
/// Not found.
pub async fn of_kind(store: &Store, host: &str, kind: BackendKind) -> Result<BackendRow> {
    store.backend(host).await?.filter(|b| b.kind == kind).ok_or_else(|| not_found(host))
}

/// There is no such back end.
pub fn not_found(host: &str) -> Error {
    Error::not_found(format!("Service {host:.255} could not be found."))
}

/// Lets new resources come again.
///
/// # Errors
/// Not found: there is no such back end.
pub async fn enable(store: &Store, host: &str) -> Result<()> {
    set_enabled(store, host, true, None).await
}

/// Keeps new resources away, for a reason that operators and explanations show.
///
/// # Errors
/// Not found: there is no such back end.
pub async fn disable(store: &Store, host: &str, reason: Option<&str>) -> Result<()> {
    set_enabled(store, host, false, reason).await
}

/// As [`disable`], by the older name for a back end whose array is being failed over.
///
/// # Errors
/// Not found: there is no such back end.
pub async fn freeze(store: &Store, host: &str) -> Result<()> {
    set_frozen(store, host, true).await
}

/// The opposite of [`freeze`].
///
/// # Errors
/// Not found: there is no such back end.
pub async fn thaw(store: &Store, host: &str) -> Result<()> {
    set_frozen(store, host, false).await
}

async fn set_enabled(store: &Store, host: &str, enabled: bool, reason: Option<&str>) -> Result<()> {
    let mut tx = store.begin().await?;
    let found = tx.set_backend_enabled(host, enabled, reason).await?;
    tx.commit().await?;
    known(found, host)
}

async fn set_frozen(store: &Store, host: &str, frozen: bool) -> Result<()> {
    let mut tx = store.begin().await?;
    let found = tx.set_backend_frozen(host, frozen).await?;
    tx.commit().await?;
    known(found, host)
}

fn known(found: bool, host: &str) -> Result<()> {
    if found { Ok(()) } else { Err(not_found(host)) }
}
