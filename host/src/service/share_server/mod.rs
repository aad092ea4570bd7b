//! Share servers, which only operators see: users see networks and shares.

pub mod delete;
pub mod list;
pub mod manage;
pub mod migration;
pub mod reset;
pub mod show;
pub mod teardown;
pub mod unmanage;
pub mod update_network;

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    jobs::NewJob,
    policy::Target,
    service::network_refusal as refusal,
    store::sql::share_servers::{ShareServer, ShareServerRow},
};

/// The server, if the caller may do `action` with servers: who may not learns nothing of which there are.
async fn load_for(app: &App, ctx: &RequestContext, id: &str, action: &str) -> Result<ShareServer> {
    app.policy.check(ctx, action, &Target::own(ctx))?;
    app.store.share_server(id).await?.ok_or_else(|| refusal::server_not_found(id))
}

/// Jobs of one server run one at a time.
fn job(app: &App, ctx: &RequestContext, kind: &'static str, server: &ShareServerRow, payload: serde_json::Value) -> NewJob {
    NewJob {
        kind,
        resource_kind: "share_server",
        order_key: server.id.clone(),
        resource_id: server.id.clone(),
        backend: Some(server.backend.clone()),
        payload,
        max_age: app.config.get().jobs.max_age,
        request_id: ctx.request_id.clone(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
    }
}
