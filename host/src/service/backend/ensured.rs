//! How far the run over a back end's shares, or over its connected volumes, is.

use serde::Serialize;

use super::exports::{self, ExportsView};
use crate::{
    app::App,
    error::Result,
    service::share_service::progress::{self, EnsureView},
    store::sql::backends::BackendKind,
};

/// A run, by what its back end has.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Ensured {
    Shares(EnsureView),
    Volumes(ExportsView),
}

/// None: there was no run.
///
/// # Errors
/// 404 when there is no such back end.
pub async fn ensured(app: &App, host: &str) -> Result<Option<Ensured>> {
    if app.store.backend(host).await?.is_some_and(|b| b.kind == BackendKind::Block) {
        return Ok(exports::progress(app, host).await?.map(Ensured::Volumes));
    }
    Ok(progress::progress(app, host).await?.map(Ensured::Shares))
}
