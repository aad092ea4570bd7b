//! The share service's parts as operators see them: one `manila-share` a back end, and the scheduler; and what is asked of
//! one back end as a whole: that its shares be ensured.

pub mod ensure;
pub mod list;
pub mod progress;
pub mod start;
pub mod toggle;

use crate::{
    app::App,
    error::Result,
    service::backend::of_kind,
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
    of_kind(&app.store, host, BackendKind::Share).await
}
