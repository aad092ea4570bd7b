//! `GET /services`.

use sha2::{Digest, Sha256};

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    service::{
        parts::{self, Part},
        share_service::{SCHEDULER, SHARE},
    },
    store::sql::backends::BackendKind,
};

/// One service.
#[derive(Debug)]
pub struct Service {
    pub part: Part,
    /// The shares of the back end are being ensured.
    pub ensuring: bool,
}

/// What is wanted; none is any. Words that no service has find none.
#[derive(Debug, Clone, Default)]
pub struct Filters<'a> {
    pub host: Option<&'a str>,
    pub binary: Option<&'a str>,
    pub zone: Option<&'a str>,
    pub status: Option<&'a str>,
    pub state: Option<&'a str>,
    /// The inner none: a word that is neither yes nor no, which fits nothing.
    pub ensuring: Option<Option<bool>>,
}

/// The services that fit, the scheduler first.
///
/// # Errors
/// 403.
pub async fn list(app: &App, ctx: &RequestContext, filters: &Filters<'_>) -> Result<Vec<Service>> {
    app.policy.check(ctx, "service:index", &Target::own(ctx))?;
    let ensuring = app.store.backends_ensuring().await?;
    let all = parts::all(app, BackendKind::Share).await?;
    let all = all.into_iter().map(|part| Service { ensuring: ensuring.contains(part.host()), part });
    Ok(all.filter(|s| s.fits(filters)).collect())
}

impl Service {
    pub fn binary(&self) -> &'static str {
        match self.part {
            Part::Scheduler { .. } => SCHEDULER,
            Part::Backend { .. } => SHARE,
        }
    }
    pub fn status(&self) -> &'static str {
        if self.part.is_enabled() { "enabled" } else { "disabled" }
    }
    pub fn state(&self) -> &'static str {
        if self.part.is_up() { "up" } else { "down" }
    }
    pub fn disabled_reason(&self) -> Option<&str> {
        match &self.part {
            Part::Scheduler { .. } => None,
            Part::Backend { row, .. } => row.disabled_reason.as_deref(),
        }
    }
    /// A number, as clients know it: made of the name, so that it stays.
    pub fn number(&self) -> u32 {
        let hash = Sha256::new().chain_update(self.binary()).chain_update("/").chain_update(self.part.host()).finalize();
        hash.iter().take(4).fold(0, |n: u32, byte| (n << 8) | u32::from(*byte)) >> 1
    }

    fn fits(&self, wanted: &Filters<'_>) -> bool {
        let is = |wanted: Option<&str>, found: &str| wanted.is_none_or(|w| w == found);
        is(wanted.host, self.part.host())
            && is(wanted.binary, self.binary())
            && is(wanted.zone, self.part.zone())
            && is(wanted.status, self.status())
            && is(wanted.state, self.state())
            && wanted.ensuring.is_none_or(|w| w == Some(self.ensuring))
    }
}
