//! `GET /os-services`.

use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::block_service::{SCHEDULER, VOLUME},
    store::sql::backends::{BackendKind, BackendRow},
};

/// One service.
#[derive(Debug)]
pub enum Service {
    /// The scheduler: in every process, so it is up when it is asked.
    Scheduler { host: String, zone: String },
    Volume {
        row: Box<BackendRow>,
        /// What its driver said last: it takes volumes in some pool.
        takes_volumes: bool,
    },
}

/// Every service of this host and binary; none is any.
///
/// # Errors
/// 403.
pub async fn list(app: &App, ctx: &RequestContext, host: Option<&str>, binary: Option<&str>) -> Result<Vec<Service>> {
    app.policy.check(ctx, "volume_extension:services:index", &Target::own(ctx))?;
    let mut all = all(app).await?;
    all.retain(|s| binary.is_none_or(|b| b == s.binary()) && host.is_none_or(|h| s.is_on(h)));
    Ok(all)
}

/// Every service, the scheduler first.
pub(super) async fn all(app: &App) -> Result<Vec<Service>> {
    let config = app.config.get();
    let mut all = vec![Service::Scheduler { host: config.host.clone(), zone: config.block.default_availability_zone.clone() }];
    let pools = app.store.pools(BackendKind::Block).await?;
    for row in app.store.backends(Some(BackendKind::Block)).await? {
        let takes_volumes = pools.iter().any(|p| p.host == row.host && p.present && p.available);
        all.push(Service::Volume { row: Box::new(row), takes_volumes });
    }
    Ok(all)
}

impl Service {
    pub fn binary(&self) -> &'static str {
        match self {
            Self::Scheduler { .. } => SCHEDULER,
            Self::Volume { .. } => VOLUME,
        }
    }
    pub fn host(&self) -> &str {
        match self {
            Self::Scheduler { host, .. } => host,
            Self::Volume { row, .. } => &row.host,
        }
    }
    /// `host` names it, or the cluster that it belongs to.
    fn is_on(&self, host: &str) -> bool {
        self.host() == host || self.host().split_once('@').is_some_and(|(cluster, _)| cluster == host)
    }
    pub fn is_up(&self) -> bool {
        match self {
            Self::Scheduler { .. } => true,
            Self::Volume { row, .. } => row.state(clock::now()).is_ok(),
        }
    }
    /// Whether the storage behind it is up: an array may be out while its service answers.
    pub fn storage_is_up(&self) -> bool {
        match self {
            Self::Scheduler { .. } => true,
            Self::Volume { takes_volumes, .. } => self.is_up() && *takes_volumes,
        }
    }
}
