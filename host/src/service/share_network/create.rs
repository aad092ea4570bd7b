//! `POST /share-networks`: the network with its first subnet.

use uuid::Uuid;

use crate::{
    app::App,
    clock::{self, Micros},
    context::RequestContext,
    domain::share_network::NetworkStatus,
    error::Result,
    policy::Target,
    service::{network_refusal as refusal, share_network_subnet::SubnetValues},
    store::sql::{share_network_list::ShareNetwork, share_networks::ShareNetworkRow},
};

/// What was asked for; texts are trimmed and bounded already.
#[derive(Debug, Clone, Default)]
pub struct CreateNetwork {
    pub name: Option<String>,
    pub description: Option<String>,
    /// Of the first subnet; none: it serves every zone.
    pub availability_zone: Option<String>,
    pub subnet: SubnetValues,
    /// Clients that copy networks say when the original was made.
    pub created_at: Option<Micros>,
}

/// # Errors
/// 400 for an unknown zone, 403, 413 (quota).
pub async fn create(app: &App, ctx: &RequestContext, ask: CreateNetwork) -> Result<ShareNetwork> {
    app.policy.check(ctx, "share_network:create", &Target::own(ctx))?;
    super::check_zone(app, ask.availability_zone.as_deref()).await?;
    let network = ShareNetworkRow {
        id: Uuid::new_v4().to_string(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
        name: ask.name,
        description: ask.description,
        status: NetworkStatus::Active.as_str().to_owned(),
        created_at: ask.created_at.unwrap_or_else(clock::now),
        updated_at: None,
    };
    let subnet = ask.subnet.row(&network.id, ask.availability_zone);
    let mut tx = app.store.begin().await?;
    tx.quota_change(&super::quota(&network, 1)).await.map_err(refusal::over_quota)?;
    tx.share_network_insert(&network).await?;
    tx.subnet_insert(&subnet).await?;
    tx.commit().await?;
    super::complete(app, &network.id).await
}
