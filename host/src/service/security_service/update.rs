//! `PUT /security-services/{id}`. A server is told of a service when it is built, so that afterwards only what it is not told
//! may change.

use super::{check_site, kind, load_for};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    service::network_refusal as refusal,
    store::{
        Tx,
        sql::security_services::{SecurityServiceRow, ServiceChange},
    },
};

/// How often the networks that use a service are looked for.
const TURNS: usize = 5;

/// What was asked for.
#[derive(Clone, Default)]
pub struct UpdateService {
    pub change: ServiceChange,
    /// Something other than name and description was given.
    pub more: bool,
}

/// # Errors
/// 400, 403 also for more than name and description when a network that uses it has servers, 404, 409 for another type while a
/// network uses it.
pub async fn update(app: &App, ctx: &RequestContext, id: &str, ask: UpdateService) -> Result<SecurityServiceRow> {
    load_for(app, ctx, id, "security_service:update").await?;
    let (mut tx, found) = held(app, id).await?;
    let (networks, servers) = tx.security_service_uses(id).await?;
    if ask.more && servers > 0 {
        return Err(Error::forbidden(format!(
            "Cannot update security service {id}. It is attached to share network with share server associated. Only 'name' and 'description' fields are \
             available for update."
        )));
    }
    if let Some(word) = &ask.change.kind {
        kind(word)?;
        if *word != found.kind && networks > 0 {
            return Err(Error::conflict(format!("Cannot change the type of security service {id}: a share network uses it.")));
        }
    }
    let given = |column: &str| ask.change.texts.iter().find(|(c, _)| *c == column).and_then(|(_, v)| v.as_deref());
    check_site(ctx, ask.change.kind.as_deref().unwrap_or(&found.kind), given("server"), given("default_ad_site"))?;
    tx.security_service_update(id, &ask.change, clock::now()).await?;
    tx.commit().await?;
    super::load(app, ctx, id).await
}

/// The service with the networks that use it, held until the transaction ends: no server of theirs is begun meanwhile. The
/// networks come first, as everybody holds them; one that came to use it in between is held at the next turn.
async fn held(app: &App, id: &str) -> Result<(Tx, SecurityServiceRow)> {
    for _ in 0..TURNS {
        let mut tx = app.store.begin().await?;
        let networks = tx.networks_of_service_locked(id).await?;
        let Some(found) = tx.security_service_locked(id).await? else { return Err(refusal::service_not_found(id)) };
        if tx.networks_of_service(id).await?.iter().all(|n| networks.contains(n)) {
            return Ok((tx, found));
        }
        tx.rollback().await?;
    }
    Err(Error::conflict(format!("The share networks that use security service {id} are changing; try again.")))
}
