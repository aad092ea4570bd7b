//! Whether a share server can move to a back end: what its driver says, what both drivers export, and whether there is room.

use std::sync::Arc;

use super::{
    MigrateServer,
    ask::{self, Asked},
    rest, room,
};
use crate::{
    app::App,
    context::RequestContext,
    driver::{
        capability::ShareServerMode,
        types::{MigrationAbilities, MigrationCheck},
    },
    error::Result,
};

/// What could be, and why what was asked for could not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    pub abilities: MigrationAbilities,
    /// None: it is compatible.
    pub because: Option<String>,
    /// The subnets that were looked at.
    pub subnets: Vec<String>,
}

impl Verdict {
    fn not(because: impl Into<String>) -> Self {
        Self { because: Some(because.into()), ..Self::default() }
    }
}

/// Changes nothing.
///
/// # Errors
/// As [`rest::hold`] and [`ask::driver`].
pub async fn find(app: &Arc<App>, ctx: &RequestContext, asked: &Asked, ask: &MigrateServer) -> Result<Verdict> {
    let rooms = room::requests(app, ctx, asked).await?;
    let mut tx = app.store.begin().await?;
    let at_rest = rest::hold(&mut tx, asked, ask).await?;
    let no_room = room::take(app, &mut tx, asked, &at_rest, rooms).await?;
    // only looked at; and drivers are asked, which must not happen in a transaction
    tx.rollback().await?;
    if let Some(why) = drivers_object(app, asked, at_rest.subnets.len()) {
        return Ok(Verdict::not(why));
    }
    let has_snapshots = !at_rest.snapshots.is_empty();
    let abilities = match ask::driver(app, ctx, asked, &at_rest.subnets, ask::request(ask, has_snapshots)).await? {
        MigrationCheck::Refused(why) => return Ok(Verdict::not(format!("The driver of {} refuses it: {why}", ask.host))),
        MigrationCheck::Compatible(abilities) => abilities,
    };
    let because = no_room.or_else(|| lacks(ask, abilities, has_snapshots));
    Ok(Verdict { abilities, because, subnets: at_rest.subnets.into_iter().map(|s| s.id).collect() })
}

/// What is known without asking. Both drivers must have the interface: the source's, because it removes what is left.
fn drivers_object(app: &App, asked: &Asked, subnets: usize) -> Option<String> {
    for host in [&asked.source.backend, &asked.backend.host] {
        let backend = match app.drivers.backend(host) {
            Ok(backend) => backend,
            Err(e) => return Some(format!("Back end {host}: {e}.")),
        };
        if backend.share_server_migration().is_none() {
            return Some(format!("The driver of {host} migrates no share servers: it does not export share-server-migration."));
        }
        if *host != asked.backend.host {
            continue;
        }
        let features = backend.capabilities().map(|timed| timed.report.features.clone()).unwrap_or_default();
        if backend.share_servers().is_none() || features.share_server_mode == ShareServerMode::WithoutServers {
            return Some(format!("The driver of {host} builds no share servers."));
        }
        if subnets > 1 && !features.share_server_multiple_subnet_support {
            return Some(format!("A share server of {host} can be on one subnet only, and the network has {subnets} in its zone."));
        }
    }
    None
}

/// What was asked for and cannot be.
fn lacks(ask: &MigrateServer, can: MigrationAbilities, has_snapshots: bool) -> Option<String> {
    let said = |what: &str| Some(format!("The driver of {} {what}.", ask.host));
    if ask.nondisruptive {
        // the destination has addresses of its own: what is mounted has to be mounted again
        return Some("A share server gets new addresses where it goes: a migration is never nondisruptive.".to_owned());
    }
    if !can.writable {
        // also when nobody asked for it: nobody makes the source read-only, and what users wrote meanwhile would be lost
        return said("does not carry over what users write while it copies");
    }
    if ask.preserve_snapshots && !can.preserve_snapshots {
        return said("does not preserve snapshots");
    }
    if has_snapshots && !can.preserve_snapshots {
        return said("does not preserve snapshots, and there are some: delete them first");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_not_compatible() {
        let all = MigrationAbilities { writable: true, preserve_snapshots: true, cancel: true, progress: true };
        let ask = |writable, nondisruptive, preserve_snapshots| MigrateServer {
            writable,
            nondisruptive,
            preserve_snapshots,
            ..MigrateServer::default()
        };
        assert_eq!(lacks(&ask(true, false, true), all, true), None);
        assert!(lacks(&ask(false, true, false), all, false).is_some(), "nothing is nondisruptive");
        let unwritable = MigrationAbilities { writable: false, ..all };
        assert!(lacks(&ask(false, false, false), unwritable, false).is_some(), "what users write would be lost");
        let least = MigrationAbilities { writable: true, ..MigrationAbilities::default() };
        assert!(lacks(&ask(false, false, true), least, false).is_some());
        assert!(lacks(&ask(false, false, false), least, true).is_some(), "snapshots that are there would be lost");
        assert_eq!(lacks(&ask(false, false, false), least, false), None);
    }
}
