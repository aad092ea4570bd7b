//! `migration_check`: whether a share server could move, and how.

use std::sync::Arc;

use super::{
    MigrateServer, ask,
    compatible::{self, Verdict},
};
use crate::{app::App, context::RequestContext, error::Result};

/// What is answered.
#[derive(Debug, Clone)]
pub struct Checked {
    pub verdict: Verdict,
    /// Where it would be.
    pub share_network_id: String,
}

/// # Errors
/// 400, 403, 404 as [`ask::of`]; 409 as [`super::rest::hold`]; 503, 504 when the destination's driver does not say.
pub async fn check(app: &Arc<App>, ctx: &RequestContext, id: &str, ask: &MigrateServer) -> Result<Checked> {
    let asked = ask::of(app, ctx, id, ask, "share_server:share_server_migration_check").await?;
    let verdict = compatible::find(app, ctx, &asked, ask).await?;
    Ok(Checked { verdict, share_network_id: asked.network.id })
}
