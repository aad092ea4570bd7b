//! The promises of drivers that move share servers.
//!
//! Source and destination are servers of the kit. Where there is one back end, both are on it, as when a server moves to another
//! network: then it is seen, too, that to abandon the source leaves the destination's alone. [`super::between`] tries it from one
//! back end to another. What a copy holds no kit can see, since nothing is mounted.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::{Desk, OrSay as _, Report, same, server::at_addresses_of, share::On};
use crate::driver::{
    ErrorKind,
    share::{ShareServerMigration, ShareServers, Shares},
    types::{
        AccessChange, ExportLocation, MigrationCheck, MigrationRequest, MigrationSource, MigrationTarget, NetworkInfo, PollOutcome,
        ServerMoved, ServerSituation, Share, ShareServer, ShareSnapshot, StringMap, Subnet,
    },
};

const CHECK: &str = "asking whether a share server could move answers the same again, and changes nothing";
const CANCEL: &str = "a migration that was begun twice is one, and is cancelled once or never begun with nothing left of it";
const COMPLETE: &str = "a migration is completed once, however often, and says of each share and snapshot once where it is";
const TAKE_BACK: &str = "a cancel after the last step brings everything back, or is refused as a risk to lose data";
const ABANDON: &str = "what is left of a source is abandoned once, however often, and the destination keeps all";

/// A back end with what the kit needs of it.
struct Side<'s> {
    desk: &'s Desk<'s>,
    servers: &'s dyn ShareServers,
    shares: &'s dyn Shares,
    migration: &'s dyn ShareServerMigration,
}

impl<'s> Side<'s> {
    fn of(desk: &'s Desk<'s>) -> Result<Self, &'static str> {
        Ok(Self {
            desk,
            servers: &**desk.backend.share_servers().ok_or("share-servers is not exported")?,
            shares: &**desk.backend.shares().ok_or("shares is not exported")?,
            migration: &**desk.backend.share_server_migration().ok_or("share-server-migration is not exported")?,
        })
    }

    async fn set_up(&self, network: &NetworkInfo) -> Result<ShareServer, String> {
        let id = Uuid::new_v4().to_string();
        let details = self.desk.set_up(self.servers, &id, std::slice::from_ref(network)).await?;
        Ok(ShareServer { id, details })
    }

    async fn tear_down(&self, server: &ShareServer) -> Result<(), String> {
        let call = self.desk.call(&format!("tear down {}", server.id));
        self.servers.teardown(&call, &server.id, Some(&server.details), &[]).await.or_say("teardown")
    }

    /// As a repeated create finds it.
    async fn locations(&self, share: &Share) -> Result<Vec<ExportLocation>, String> {
        let call = self.desk.call(&format!("create {}", share.id));
        Ok(self.desk.made_share("create", self.shares.create(&call, share).await).await?.locations)
    }
}

/// The networks of source and destination, and of a destination that is given up.
pub async fn run(from: &Desk<'_>, to: &Desk<'_>, on: &On<'_>, networks: [NetworkInfo; 3], report: &mut Report) {
    let (from, to) = match (Side::of(from), Side::of(to)) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(why), _) | (_, Err(why)) => return report.skip("migration of share servers", why),
    };
    let [source, destination, given_up] = networks;
    let mut moving = None;
    report
        .check("a share server that may move is built, with a share on it", async {
            moving = Some(moving_server(&from, on, &source).await?);
            Ok(())
        })
        .await;
    let Some(moving) = moving else { return };
    let trial = Trial { from, to, moving, request: MigrationRequest { writable: false, preserve_snapshots: true } };
    let subnets = [destination.subnet.clone()];
    if trial.may_move(&subnets, report).await {
        trial.cancelled(&given_up, report).await;
        trial.completed(&destination, &given_up, report).await;
    } else {
        trial.source_removed(report).await;
    }
}

async fn moving_server(from: &Side<'_>, on: &On<'_>, network: &NetworkInfo) -> Result<MigrationSource, String> {
    let server = from.set_up(network).await?;
    let on = On { pool: on.pool, protocol: on.protocol.clone(), server: Some(server.clone()) };
    let mut share = on.share();
    share.locations = from.locations(&share).await?;
    let mut snapshots = Vec::new();
    if let Some(taking) = from.desk.backend.share_snapshots() {
        let snapshot = ShareSnapshot {
            id: Uuid::new_v4().to_string(),
            name: "stowage-kit".to_owned(),
            project_id: String::new(),
            share_id: share.id.clone(),
            size_gib: share.size_gib,
            provider_id: None,
            provider_data: None,
            locations: Vec::new(),
            server: share.server.clone(),
            metadata: StringMap::new(),
        };
        taking.create_snapshot(&from.desk.call("snapshot of what moves"), &snapshot, &share).await.or_say("snapshot")?;
        snapshots.push(snapshot);
    }
    let rules = [(share.id.clone(), Vec::new())].into();
    let situation = ServerSituation { server, current: vec![network.clone()], shares: vec![share], snapshots, rules };
    Ok(MigrationSource { host: "stowage@kit".to_owned(), situation })
}

struct Trial<'t> {
    from: Side<'t>,
    to: Side<'t>,
    moving: MigrationSource,
    request: MigrationRequest,
}

impl Trial<'_> {
    fn share(&self) -> &Share {
        &self.moving.situation.shares[0]
    }

    async fn may_move(&self, subnets: &[Subnet], report: &mut Report) -> bool {
        let mut verdict = None;
        report
            .check(CHECK, async {
                let ask = || async {
                    self.to.migration.check(&self.to.desk.call("check"), &self.moving, subnets, &self.request).await.or_say("check")
                };
                let first = ask().await?;
                same("check", &first, &ask().await?)?;
                if matches!(&first, MigrationCheck::Refused(why) if why.trim().is_empty()) {
                    return Err("the check was refused without a reason".to_owned());
                }
                self.serves_as_before().await?;
                verdict = Some(first);
                Ok(())
            })
            .await;
        match verdict {
            Some(MigrationCheck::Compatible(_)) => true,
            Some(MigrationCheck::Refused(why)) => {
                report.skip("a migration of a share server", &format!("the driver refuses it: {why}"));
                false
            }
            None => false,
        }
    }

    async fn serves_as_before(&self) -> Result<(), String> {
        same("the share on the source", &self.share().locations, &self.from.locations(self.share()).await?)
    }

    async fn started(&self, target: &MigrationTarget) -> Result<(), String> {
        for attempt in ["start", "repeated start"] {
            let call = self.to.desk.call(&format!("start {}", target.server.id));
            let answer = self.to.migration.start(&call, &self.moving, target, &self.request).await;
            self.to.desk.finish(attempt, answer, |outcome| matches!(outcome, PollOutcome::Copied).then_some(())).await?;
        }
        Ok(())
    }

    async fn cancelled(&self, network: &NetworkInfo, report: &mut Report) {
        report
            .check(CANCEL, async {
                let cancel = async |what: &str, server: &ShareServer| {
                    let call = self.to.desk.call(&format!("cancel {}", server.id));
                    self.to.migration.cancel(&call, &self.moving, server).await.or_say(what)
                };
                let server = self.to.set_up(network).await?;
                cancel("cancel of what was never begun", &server).await?;
                let target = MigrationTarget { server, networks: vec![network.clone()] };
                self.started(&target).await?;
                self.serves_as_before().await?;
                cancel("cancel", &target.server).await?;
                cancel("repeated cancel", &target.server).await?;
                self.serves_as_before().await?;
                self.to.tear_down(&target.server).await
            })
            .await;
    }

    async fn complete(&self, target: &MigrationTarget) -> Result<ServerMoved, String> {
        let call = self.to.desk.call(&format!("complete {}", target.server.id));
        let answer = self.to.migration.complete(&call, &self.moving, target, &self.request).await;
        let end = |outcome| if let PollOutcome::Moved(moved) = outcome { Some(moved) } else { None };
        self.to.desk.finish("complete", answer, end).await
    }

    /// The share as it is on the destination.
    fn moved_share(&self, target: &MigrationTarget, moved: &ServerMoved) -> Share {
        let at = moved.shares.iter().find(|s| s.id == self.share().id);
        Share {
            server: Some(ShareServer { id: target.server.id.clone(), details: moved.details.clone() }),
            pool: at.map(|s| s.pool.clone()).unwrap_or_default(),
            locations: at.map(|s| s.locations.clone()).unwrap_or_default(),
            ..self.share().clone()
        }
    }

    /// The share, where it is for good. None: it is on the source.
    async fn taken_back(&self, there: Share, again: &NetworkInfo, report: &mut Report) -> Option<Share> {
        let mut now = Some(there);
        report
            .check(TAKE_BACK, async {
                let Some(server) = now.as_ref().and_then(|s| s.server.clone()) else { return Ok(()) };
                let call = self.to.desk.call(&format!("cancel {}", server.id));
                match self.to.migration.cancel(&call, &self.moving, &server).await {
                    Err(e) if e.kind == ErrorKind::DataLossRisk => return Ok(()),
                    Err(e) => return Err(format!("it was refused as {}: {}", e.kind.as_str(), e.message)),
                    Ok(()) => {}
                }
                now = None;
                self.serves_as_before().await?;
                self.to.tear_down(&server).await?;
                let target = MigrationTarget { server: self.to.set_up(again).await?, networks: vec![again.clone()] };
                self.started(&target).await?;
                now = Some(self.moved_share(&target, &self.complete(&target).await?));
                Ok(())
            })
            .await;
        now
    }

    async fn completed(&self, network: &NetworkInfo, again: &NetworkInfo, report: &mut Report) {
        let mut there = None;
        report
            .check(COMPLETE, async {
                let target = MigrationTarget { server: self.to.set_up(network).await?, networks: vec![network.clone()] };
                self.started(&target).await?;
                let first = self.complete(&target).await?;
                there = Some(self.moved_share(&target, &first));
                same("complete", &first, &self.complete(&target).await?)?;
                self.said_of_each(&first)?;
                self.in_pools_there(&first)?;
                for share in &first.shares {
                    at_addresses_of(&target.networks, &share.locations)?;
                }
                Ok(())
            })
            .await;
        let Some(there) = there else { return self.source_removed(report).await };
        let Some(share) = self.taken_back(there, again, report).await else { return self.source_removed(report).await };
        self.abandoned(&share, report).await;
        report
            .check("a share that has moved is deleted like any other, and so is its server", async {
                if let Some(snapshots) = self.to.desk.backend.share_snapshots() {
                    for snapshot in &self.moving.situation.snapshots {
                        let snapshot = ShareSnapshot { server: share.server.clone(), ..snapshot.clone() };
                        let call = self.to.desk.call("delete moved snapshot");
                        snapshots.delete_snapshot(&call, &snapshot, &share).await.or_say("delete of a snapshot")?;
                    }
                }
                self.to.shares.delete(&self.to.desk.call("delete moved share"), &share).await.or_say("delete")?;
                match &share.server {
                    Some(server) => self.to.tear_down(server).await,
                    None => Ok(()),
                }
            })
            .await;
    }

    fn said_of_each(&self, moved: &ServerMoved) -> Result<(), String> {
        let on = &self.moving.situation;
        let once = |what: &str, given: Vec<&str>, said: Vec<&str>| {
            let distinct: BTreeSet<&str> = said.iter().copied().collect();
            if distinct.len() == said.len() && distinct == given.into_iter().collect() {
                return Ok(());
            }
            Err(format!("the {what} are said to be {said:?}"))
        };
        once("shares", on.shares.iter().map(|s| s.id.as_str()).collect(), moved.shares.iter().map(|s| s.id.as_str()).collect())?;
        once("snapshots", on.snapshots.iter().map(|s| s.id.as_str()).collect(), moved.snapshots.iter().map(|s| s.id.as_str()).collect())
    }

    fn in_pools_there(&self, moved: &ServerMoved) -> Result<(), String> {
        let pools = self.to.desk.backend.capabilities().map(|timed| timed.report.pools.clone()).unwrap_or_default();
        match moved.shares.iter().find(|s| !pools.iter().any(|p| p.name == s.pool)) {
            Some(share) => Err(format!("share {} is said to be in pool {:?}, which is not reported", share.id, share.pool)),
            None => Ok(()),
        }
    }

    async fn abandoned(&self, there: &Share, report: &mut Report) {
        report
            .check(ABANDON, async {
                let on = &self.moving.situation;
                for attempt in ["abandon", "repeated abandon"] {
                    let call = self.from.desk.call("abandon");
                    self.from.migration.abandon(&call, &on.server, &on.shares, &on.snapshots).await.or_say(attempt)?;
                }
                self.from.tear_down(&on.server).await?;
                // a create would make what is lost
                if let Some(access) = self.to.desk.backend.access() {
                    let call = self.to.desk.call("rules where it is");
                    access.apply(&call, there, &AccessChange::default()).await.or_say("rules where it is now")?;
                }
                same("the share where it is", &there.locations, &self.to.locations(there).await?)
            })
            .await;
    }

    async fn source_removed(&self, report: &mut Report) {
        report
            .check("a share server that did not move is removed like any other", async {
                let on = &self.moving.situation;
                if let Some(snapshots) = self.from.desk.backend.share_snapshots() {
                    for snapshot in &on.snapshots {
                        let call = self.from.desk.call("delete snapshot");
                        snapshots.delete_snapshot(&call, snapshot, self.share()).await.or_say("delete of a snapshot")?;
                    }
                }
                self.from.shares.delete(&self.from.desk.call("delete share"), self.share()).await.or_say("delete")?;
                self.from.tear_down(&on.server).await
            })
            .await;
    }
}
