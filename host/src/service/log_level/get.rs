//! `PUT /os-services/get-log`.

use std::collections::BTreeMap;

use super::Which;
use crate::{app::App, context::RequestContext, error::Result, policy::Target, telemetry::log::directives};

/// The levels in force in one process, told for one of its services.
#[derive(Debug)]
pub struct Told {
    pub binary: String,
    /// Machine and process id.
    pub host: String,
    pub levels: BTreeMap<String, &'static str>,
}

/// What the processes that are meant log, below `prefix`.
///
/// # Errors
/// 403.
pub async fn get(app: &App, ctx: &RequestContext, which: &Which, prefix: &str) -> Result<Vec<Told>> {
    app.policy.check(ctx, "volume_extension:services:update", &Target::own(ctx))?;
    let mut told = Vec::new();
    for (process, binaries) in which.processes(app).await? {
        let levels = directives::levels(&process.log_directives, prefix);
        told.extend(binaries.into_iter().map(|binary| Told { binary, host: process.label.clone(), levels: levels.clone() }));
    }
    Ok(told)
}
