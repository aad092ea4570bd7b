//! The share service's parts as operators see them: one `manila-share` a back end, and the scheduler; and what is asked of
//! one back end as a whole: that its shares be ensured.

pub mod ensure;
pub mod list;
pub mod progress;
pub mod start;
pub mod toggle;

use crate::{
    app::App,
    error::{Error, Result},
    store::sql::backends::{BackendKind, BackendRow},
};

/// The binary of a back end.
pub const SHARE: &str = "manila-share";
/// The binary of the part that places.
pub const SCHEDULER: &str = "manila-scheduler";

/// A back end of shares.
///
/// # Errors
/// 404.
async fn backend(app: &App, host: &str) -> Result<BackendRow> {
    let found = app.store.backend(host).await?.filter(|b| b.kind == BackendKind::Share);
    found.ok_or_else(|| not_found(host))
}

fn not_found(host: &str) -> Error {
    Error::not_found(format!("Service {host:.255} could not be found."))
}
