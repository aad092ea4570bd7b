//! Looking at and revoking tokens.

use std::sync::Arc;

use super::{of, token, token::TokenInfo};
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Kind, Result},
    policy::Target,
};

/// What `subject` stands for.
///
/// # Errors
/// [`Kind::NotFound`] for a token that is not valid.
pub async fn show(app: &App, ctx: &RequestContext, subject: &str, action: &str) -> Result<Arc<TokenInfo>> {
    let found = of(app)?.resolve(subject).await;
    // who may not validate tokens is told the same of valid and invalid ones
    let owner = found.as_ref().map_or("", |info| info.user_id.as_str());
    app.policy.check(ctx, action, &Target { user_id: owner, ..Target::default() })?;
    found.map_err(gone)
}

/// Makes `subject` invalid, at once in this process.
///
/// # Errors
/// [`Kind::NotFound`] for a token that is not valid.
pub async fn revoke(app: &App, ctx: &RequestContext, subject: &str) -> Result<()> {
    let identity = of(app)?;
    show(app, ctx, subject, "identity:revoke_token").await?;
    let mut tx = identity.begin().await?;
    tx.revoke_token(&hex::encode(token::digest(subject))).await?;
    tx.commit().await?;
    Ok(())
}

fn gone(e: Error) -> Error {
    if e.kind == Kind::Unauthenticated { Error::not_found("Could not find token.") } else { e }
}
