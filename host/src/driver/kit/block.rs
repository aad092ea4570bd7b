//! The promises of block drivers.

use uuid::Uuid;

use super::{Desk, OrSay as _, Report, refused_as, same};
use crate::driver::{
    DriverResult, ErrorKind,
    block::ConnectionInfo,
    capability::BlockProtocol,
    types::{AccessMode, Answer, Connector, DisconnectTarget, NewType, PollOutcome, RetypeOutcome, Volume, VolumeSnapshot, VolumeUpdate},
};

fn volume(pool: &str, size_gib: u64) -> Volume {
    Volume { id: Uuid::new_v4().to_string(), name: "stowage-kit".to_owned(), pool: pool.to_owned(), size_gib, ..Volume::default() }
}

fn snapshot(of: &Volume) -> VolumeSnapshot {
    VolumeSnapshot {
        id: Uuid::new_v4().to_string(),
        name: "stowage-kit".to_owned(),
        volume_id: of.id.clone(),
        size_gib: of.size_gib,
        ..VolumeSnapshot::default()
    }
}

/// A host that can speak every protocol.
fn connector(host: &str) -> Connector {
    connector_by(host, host)
}

/// The same, by one of several names.
fn connector_by(host: &str, name: &str) -> Connector {
    Connector {
        host: format!("{host}.kit.test"),
        ip: Some("192.0.2.1".to_owned()),
        initiator: Some(format!("iqn.2026-01.test.kit:{name}")),
        wwpns: vec![format!("50014380242b9{:03x}", name.len())],
        wwnns: vec![format!("50014380242b8{:03x}", name.len())],
        nqn: Some(format!("nqn.2026-01.test.kit:{name}")),
        ..Connector::default()
    }
}

impl Desk<'_> {
    async fn made(&self, what: &str, answer: DriverResult<Answer<VolumeUpdate>>) -> Result<VolumeUpdate, String> {
        let end = |outcome| if let PollOutcome::Volume(update) = outcome { Some(update) } else { None };
        self.finish(what, answer, end).await
    }

    async fn create(&self, volume: &Volume) -> Result<VolumeUpdate, String> {
        let volumes = self.backend.need_volumes().or_say("volumes")?;
        self.made("create", volumes.create(&self.call(&format!("create {}", volume.id)), volume).await).await
    }

    async fn delete(&self, volume: &Volume) -> DriverResult<()> {
        self.backend.need_volumes()?.delete(&self.call(&format!("delete {}", volume.id)), volume).await
    }
}

pub async fn run(desk: &Desk<'_>, pool: &str, report: &mut Report) {
    let v = volume(pool, 1);
    report
        .check("a repeated create finds the volume and answers the same", async {
            let first = desk.create(&v).await?;
            same("create", &first, &desk.create(&v).await?)
        })
        .await;
    report.check("an extend may be repeated, and never shrinks", extend(desk, &v)).await;
    report.check("a verb on a volume that is not there is refused as not-found", missing(desk, pool)).await;
    connections(desk, pool, &v, report).await;
    snapshots(desk, pool, &v, report).await;
    copies(desk, pool, &v, report).await;
    report
        .check("a delete may be repeated, and what was never made is deleted with success", async {
            for attempt in ["delete", "repeated delete"] {
                desk.delete(&v).await.or_say(attempt)?;
            }
            desk.delete(&volume(pool, 1)).await.or_say("delete of what was never made")
        })
        .await;
}

async fn extend(desk: &Desk<'_>, v: &Volume) -> Result<(), String> {
    let volumes = desk.backend.need_volumes().or_say("volumes")?;
    for (what, size) in [("extend", 3), ("repeated extend", 3), ("extend to what is less", 2)] {
        desk.made(what, volumes.extend(&desk.call(&format!("extend {size}")), v, size).await).await?;
    }
    Ok(())
}

async fn missing(desk: &Desk<'_>, pool: &str) -> Result<(), String> {
    let nobody = volume(pool, 1);
    let volumes = desk.backend.need_volumes().or_say("volumes")?;
    refused_as("extend", volumes.extend(&desk.call("extend missing"), &nobody, 2).await, ErrorKind::NotFound)?;
    if let Some(connections) = desk.backend.connection_info() {
        let connected = connections.connect(&desk.call("connect missing"), &nobody, "kit", AccessMode::ReadWrite, &connector("a")).await;
        refused_as("connect", connected, ErrorKind::NotFound)?;
    }
    Ok(())
}

async fn connections(desk: &Desk<'_>, pool: &str, v: &Volume, report: &mut Report) {
    let Some(connections) = desk.backend.connection_info() else {
        return report.skip("connections", "connection-info is not exported");
    };
    let named = desk.backend.capabilities().is_some_and(|timed| {
        let by_name = |p: &BlockProtocol| matches!(p, BlockProtocol::Iscsi | BlockProtocol::FibreChannel | BlockProtocol::NvmeOf);
        timed.report.features.block_protocols.iter().all(by_name)
    });
    report
        .check("a connector that lacks what the protocol needs is invalid", async {
            let bare = Connector { host: "bare.kit.test".to_owned(), ..Connector::default() };
            if named {
                refused_as("validate", connections.validate_connector(&desk.call("validate bare"), &bare).await, ErrorKind::Invalid)?;
            }
            connections.validate_connector(&desk.call("validate"), &connector("a")).await.or_say("validate a whole connector")
        })
        .await;
    report
        .check("a repeated connect, and a second attachment by the same name, get the same answer", async {
            let connect = |attachment: &'static str| {
                let call = desk.call(&format!("connect {attachment}"));
                async move { connections.connect(&call, v, attachment, AccessMode::ReadWrite, &connector("a")).await.or_say("connect") }
            };
            let first = connect("one").await?;
            same("repeated connect", &first, &connect("one").await?)?;
            same("second attachment", &first, &connect("two").await?)
        })
        .await;
    report
        .check("a disconnect may be repeated, and leaves other hosts connected", async {
            let connect = || async {
                let call = desk.call("connect b");
                connections.connect(&call, v, "three", AccessMode::ReadOnly, &connector("bb")).await.or_say("connect of another host")
            };
            let other = connect().await?;
            for attempt in ["disconnect", "repeated disconnect"] {
                let target = DisconnectTarget::Connector(connector("a"));
                connections.disconnect(&desk.call("disconnect"), v, &target).await.or_say(attempt)?;
            }
            same("the other host's connection", &other, &connect().await?)?;
            connections.ensure_export(&desk.call("ensure"), v).await.or_say("ensure-export")?;
            for attempt in ["disconnect of all", "repeated disconnect of all"] {
                connections.disconnect(&desk.call("disconnect all"), v, &DisconnectTarget::All).await.or_say(attempt)?;
            }
            Ok(())
        })
        .await;
    modes(desk, &**connections, v, report).await;
    if named {
        report.check("two names of one host are two connections: ending one leaves the other", names(desk, &**connections, v)).await;
    } else {
        report.skip("two names of one host", "hosts are told apart by their names alone");
    }
    report
        .check("disconnecting what never was connected succeeds", async {
            let stranger = volume(pool, 1);
            let target = DisconnectTarget::Connector(connector("a"));
            connections.disconnect(&desk.call("disconnect stranger"), &stranger, &target).await.or_say("disconnect")
        })
        .await;
}

async fn modes(desk: &Desk<'_>, connections: &dyn ConnectionInfo, v: &Volume, report: &mut Report) {
    report
        .check("a connection keeps its answer when an attachment that needs more comes to it, and when that has gone", async {
            let connect = |attachment: &'static str, mode| {
                let call = desk.call(&format!("connect {attachment} {mode:?}"));
                async move { connections.connect(&call, v, attachment, mode, &connector("a")).await }
            };
            let first = connect("reader", AccessMode::ReadOnly).await.or_say("connect to read")?;
            for (what, attachment, mode) in
                [("connect to write, too", "writer", AccessMode::ReadWrite), ("connect to read again", "reader", AccessMode::ReadOnly)]
            {
                match connect(attachment, mode).await {
                    Err(e) if e.kind == ErrorKind::Unsupported => {}
                    answer => same(what, &first, &answer.or_say(what)?)?,
                }
            }
            connections.disconnect(&desk.call("disconnect modes"), v, &DisconnectTarget::All).await.or_say("disconnect")
        })
        .await;
}

async fn names(desk: &Desk<'_>, connections: &dyn ConnectionInfo, v: &Volume) -> Result<(), String> {
    let (one, other) = (connector_by("a", "one"), connector_by("a", "other"));
    let connect = |by: &'static str, connector| {
        let call = desk.call(&format!("connect by {by}"));
        async move { connections.connect(&call, v, by, AccessMode::ReadWrite, connector).await.or_say("connect") }
    };
    connect("one", &one).await?;
    let kept = connect("other", &other).await?;
    let end = |connector: &Connector| DisconnectTarget::Connector(connector.clone());
    connections.disconnect(&desk.call("disconnect one"), v, &end(&one)).await.or_say("disconnect of one")?;
    same("the other name's connection", &kept, &connect("other, again", &other).await?)?;
    connections.disconnect(&desk.call("disconnect other"), v, &end(&other)).await.or_say("disconnect of the other")
}

async fn snapshots(desk: &Desk<'_>, pool: &str, v: &Volume, report: &mut Report) {
    let Some(snapshots) = desk.backend.volume_snapshots() else {
        return report.skip("snapshots of volumes", "volume-snapshots is not exported");
    };
    let s = snapshot(v);
    report
        .check("a repeated snapshot is the one that was taken first", async {
            let take = || async { snapshots.create_snapshot(&desk.call("snapshot"), &s, v).await.or_say("snapshot") };
            same("snapshot", &take().await?, &take().await?)
        })
        .await;
    if let Some(from) = desk.backend.volume_from_snapshot() {
        let copy = volume(pool, 4);
        report
            .check("a volume made from a snapshot may be larger, and its create repeated", async {
                let make =
                    || async { desk.made("from snapshot", from.create_from_snapshot(&desk.call("from snapshot"), &copy, &s).await).await };
                same("from snapshot", &make().await?, &make().await?)
            })
            .await;
        report.check("such a volume is deleted like any other", async { desk.delete(&copy).await.or_say("delete") }).await;
    }
    if let Some(revert) = desk.backend.volume_revert() {
        report
            .check("a revert may be repeated", async {
                for attempt in ["revert", "repeated revert"] {
                    revert.revert(&desk.call("revert"), v, &s).await.or_say(attempt)?;
                }
                Ok(())
            })
            .await;
    }
    report
        .check("a snapshot's delete may be repeated", async {
            for attempt in ["delete", "repeated delete"] {
                snapshots.delete_snapshot(&desk.call("delete snapshot"), &s, v).await.or_say(attempt)?;
            }
            Ok(())
        })
        .await;
}

async fn copies(desk: &Desk<'_>, pool: &str, v: &Volume, report: &mut Report) {
    if let Some(clone) = desk.backend.volume_clone() {
        let copy = volume(pool, 4);
        report
            .check("a clone may be larger, and may be repeated", async {
                let make = || async { desk.made("clone", clone.clone_volume(&desk.call("clone"), &copy, v).await).await };
                same("clone", &make().await?, &make().await?)
            })
            .await;
        report.check("a clone is deleted like any other", async { desk.delete(&copy).await.or_say("delete") }).await;
    }
    if let Some(retype) = desk.backend.volume_retype() {
        report
            .check("a retype within the pool is done, or said to need a migration, each time", async {
                let to = NewType { pool: pool.to_owned(), ..NewType::default() };
                let first = retype.retype(&desk.call("retype"), v, &to).await.or_say("retype")?;
                let again = retype.retype(&desk.call("retype"), v, &to).await.or_say("repeated retype")?;
                same("retype", &matches!(first, RetypeOutcome::Done(_)), &matches!(again, RetypeOutcome::Done(_)))
            })
            .await;
    }
}
